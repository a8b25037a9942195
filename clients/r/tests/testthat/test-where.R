json_of <- function(filter) snapledger:::encode_json(filter)

test_that("conditions are translated", {
  heavy <- 4000
  islands <- factor(c("Dream", "Biscoe"))
  expect_equal(json_of(sl_where(species == "Adelie")), '{"species":"Adelie"}')
  expect_equal(json_of(sl_where(species != "Adelie")), '{"species":{"not":"Adelie"}}')
  expect_equal(json_of(sl_where(island %in% islands)), '{"island":{"in":["Dream","Biscoe"]}}')
  expect_equal(json_of(sl_where(island %in% "Dream")), '{"island":{"in":["Dream"]}}')
  expect_equal(json_of(sl_where(!(island %in% islands))), '{"island":{"not":{"in":["Dream","Biscoe"]}}}')
  expect_equal(json_of(sl_where(mass > heavy & mass <= 2 * heavy)), '{"mass":{"above":4000,"at_most":8000}}')
  expect_equal(json_of(sl_where(between(year, 2007, 2008L))), '{"year":{"between":[2007,2008]}}')
  expect_equal(json_of(sl_where(is.na(mass))), '{"mass":{"is_missing":true}}')
  expect_equal(json_of(sl_where(!is.na(mass))), '{"mass":{"is_missing":false}}')
  expect_equal(json_of(sl_where(adult & !tagged)), '{"adult":true,"tagged":false}')
  expect_equal(json_of(sl_where(.data$species == "Adelie")), '{"species":"Adelie"}')
  expect_equal(json_of(sl_where(born >= as.Date("2024-01-31"))), '{"born":{"at_least":"2024-01-31"}}')
})

test_that("a value may come first", {
  expect_equal(json_of(sl_where(4000 <= mass)), '{"mass":{"at_least":4000}}')
  expect_equal(json_of(sl_where("Adelie" == species)), '{"species":"Adelie"}')
})

test_that("numbers keep 15 digits", {
  expect_equal(json_of(sl_where(x > 0.1 + 0.2)), '{"x":{"above":0.3}}')
  expect_equal(json_of(sl_where(x == 123456789012345)), '{"x":123456789012345}')
})

test_that("filters are used again, also from lists", {
  adelie <- sl_where(species == "Adelie")
  expect_equal(sl_count(where = adelie)$where, adelie)
  expect_equal(sl_count(where = !!adelie)$where, adelie)
  of_list <- sl_where(list(species = "Adelie", year = list(between = c(2007, 2008)), x = list(not = 3)))
  expect_equal(json_of(of_list), '{"species":"Adelie","year":{"between":[2007,2008]},"x":{"not":3}}')
  expect_null(sl_mean("mass")$where)
  species <- "Gentoo"
  expect_equal(json_of(sl_where(species == !!species)), '{"species":"Gentoo"}')
  expect_equal(json_of(sl_where(species == .env$species)), '{"species":"Gentoo"}')
  expect_equal(json_of(sl_where(-5 <= x & x < -1)), '{"x":{"at_least":-5,"below":-1}}')
  wrapped <- function(condition) sl_count(where = {{ condition }})
  expect_equal(json_of(wrapped(species == "Adelie")$where), '{"species":"Adelie"}')
})

test_that("conditions that a filter does not have are refused with advice", {
  refused <- function(code, advice) expect_error(code, advice, class = "snapledger_invalid_argument")
  refused(sl_where(a == 1 | b == 2), "use `%in%` for several values")
  refused(sl_where(a + 1 > 2), "compare a column")
  refused(sl_where(a == c(1, 2)), "%in%")
  refused(sl_where(a == NA), "is.na") # nolint: equals_na_linter. It is what is refused.
  refused(sl_where(a == Inf), "finite")
  refused(sl_where(a > 1 & a > 2), "one condition of `a`")
  refused(sl_where(!(a > 1 & b > 2)), "one column")
  refused(sl_where(a > sum), "text, numbers")
  refused(sl_where(3), "must be a condition")
  refused(sl_where(nchar("a")), "must be a condition")
})

test_that("a filter is shown in words", {
  expect_equal(
    format(sl_where(species %in% c("a", "b", "c", "d", "e") & mass >= 3 & mass < 5 & !is.na(bill))),
    "<snapledger filter> species in a, b, c, d and 1 more and mass at least 3 and below 5 and bill is not missing"
  )
})
