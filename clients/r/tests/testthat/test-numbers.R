decimal_text <- snapledger:::decimal_text

test_that("numbers are sent as the decimals that they stand for", {
  expect_equal(decimal_text(0.1), "0.1")
  expect_equal(decimal_text(0.1 + 0.2), "0.3")
  expect_equal(decimal_text("0.10"), "0.10")
  expect_equal(decimal_text(1L), "1")
  expect_equal(decimal_text(1e-9), "1e-09")
  expect_equal(decimal_text(100000), "100000")
  expect_equal(decimal_text(123456.789012345), "123456.789012345")
  expect_equal(decimal_text(1e100), "1e+100")
  expect_equal(decimal_text(-2.5), "-2.5")
})

test_that("options of the session do not change numbers", {
  rlang::local_options(OutDec = ",", scipen = -100, digits = 3)
  expect_equal(decimal_text(0.123456789), "0.123456789")
})

test_that("what is no number is refused", {
  for (wrong in list(NA, TRUE, NaN, Inf, c(1, 2), NULL, NA_character_)) {
    expect_error(decimal_text(wrong), class = "snapledger_invalid_argument")
  }
})

test_that("dates and times are sent in ISO 8601", {
  expect_equal(snapledger:::value_text(as.Date("2024-02-29")), "2024-02-29")
  time <- as.POSIXct("2024-07-01 12:30:00", tz = "Europe/Paris")
  expect_equal(snapledger:::value_text(time), "2024-07-01T12:30:00.000000+02:00")
})
