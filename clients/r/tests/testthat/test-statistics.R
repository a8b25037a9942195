json_of <- function(statistic) snapledger:::encode_json(statistic)

test_that("statistics are described as the service reads them", {
  expect_equal(json_of(sl_mean("age")), '{"kind":"mean","column":"age"}')
  expect_equal(json_of(sl_variance("age", c(0, "99.5"))), '{"kind":"variance","column":"age","bounds":["0","99.5"]}')
  expect_equal(
    json_of(sl_covariance("a", "b", list(NULL, c(0, 1)))),
    '{"kind":"covariance","columns":["a","b"],"bounds":[null,["0","1"]]}'
  )
  expect_equal(json_of(sl_count(group_by = "a")), '{"kind":"count","group_by":"a"}')
  expect_equal(
    json_of(sl_count(group_by = sl_periods("born", "month"))),
    '{"kind":"count","group_by":{"column":"born","bins":"month"}}'
  )
  expect_equal(json_of(sl_histogram("a", edges = 0:2)), '{"kind":"histogram","column":"a","edges":["0","1","2"]}')
  expect_equal(
    json_of(sl_table("a", "b", bins = list(NULL, 5))), '{"kind":"histogram","columns":["a","b"],"bins":[null,5]}'
  )
  expect_equal(json_of(sl_regression(y ~ x)), '{"kind":"regression","columns":["x","y"]}')
  expect_equal(
    json_of(sl_quantile("a", 0.1, bins = 5)), '{"kind":"quantile","column":"a","bins":5,"probabilities":["0.1"]}'
  )
  expect_equal(json_of(sl_median("a")), '{"kind":"quantile","column":"a","probabilities":["0.5"]}')
  expect_equal(json_of(sl_statistic("sum", column = "a", centred = TRUE)), '{"kind":"sum","column":"a","centred":true}')
})

test_that("a mean of some rows is derived", {
  is_derived <- snapledger:::is_derived
  expect_false(is_derived(sl_mean("age")))
  expect_true(is_derived(sl_mean("age", where = adult)))
  expect_true(is_derived(sl_mean("age", group_by = "sex")))
  expect_true(is_derived(sl_mean("age", missing = "exclude")))
  expect_false(is_derived(sl_sum("age", where = adult)))
})

test_that("wrong arguments are refused before anything is sent", {
  refused <- function(code, advice) expect_error(code, advice, class = "snapledger_invalid_argument")
  refused(sl_mean(of_away(), "age"), "sl_release")
  refused(sl_mean(3), "name of a column")
  refused(sl_histogram(c("sex", "region")), "see `sl_table\\(\"sex\", \"region\"\\)`")
  refused(sl_variance("cost", where = sex == "f"), "goes with `missing = \"exclude\"`")
  refused(sl_sd("cost", where = sex == "f"), "goes with `missing = \"exclude\"`")
  refused(sl_correlation("a", "b", where = sex == "f"), "goes with `missing")
  refused(sl_regression(b ~ a, where = sex == "f"), "goes with `missing")
  refused(sl_mean("age", bounds = 1), "lower and an upper")
  refused(sl_table("a", "b", bins = 5), "list of two")
  refused(sl_histogram("a", bins = 2.5), "whole number")
  refused(sl_regression("y"), "y ~ x")
  refused(sl_release(of_away(), sl_mean("a")), "exactly one of")
  refused(sl_release(of_away(), sl_mean("a"), epsilon = 1, accuracy = 1), "exactly one of")
  refused(sl_release(of_away(), list(kind = "mean"), epsilon = 1), "must be a statistic")
  refused(sl_release(of_away(), sl_sd("a"), epsilon = 1, guess = 3), "guesses")
  refused(sl_release(of_away(), sl_mean("a"), epsilon = 1, key = "f\u00fcnf"), "ASCII")
  refused(sl_batch(of_away()), "at least one item")
  refused(sl_item(sl_sd("a")), "no derived statistics")
  refused(sl_dataset(away(), ".."), "letters or digits")
})

test_that("questions have exact decimals", {
  sent <- local_answers(answer(201, RELEASE))
  sl_release(of_away(), sl_mean("body_mass_g"), epsilon = 0.1, alpha = 0.01, reuse = FALSE)
  expect_equal(
    sent$requests[[1]]$body$data,
    '{"statistic":{"kind":"mean","column":"body_mass_g"},"epsilon":"0.1","alpha":"0.01","reuse":false}'
  )
})
