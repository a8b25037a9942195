library(testthat)
library(snapledger)

test_check("snapledger")
