owner_of_all <- function() sl_connect(key = Sys.getenv("SNAPLEDGER_OWNER_KEY"))

test_that("a figure in a collection has two names", {
  sent <- local_answers(answer(500))
  for (odd in list("mass", "penguins/", "/mass", "a/b/c", NA_character_, 1)) {
    expect_error(sl_put_collection(away(), "board", "Board", odd), class = "snapledger_invalid_argument")
  }
  expect_length(sent$requests, 0)
})

test_that("a collection prints its figures, and withdrawn ones without a name", {
  figures <- '[{"dataset": "penguins", "figure": "mass", "version": 2, "title": "Mass", "withdrawn": false,
    "published_at": "2026-01-31T12:00:00.000000Z"}, {"dataset": null, "figure": null, "version": null, "title": null,
    "published_at": null, "withdrawn": true}]'
  members <- '"name": "board", "title": "Board", "note": "All.", "audience": "public"'
  document <- sprintf('{%s, "figures": %s}', members, figures)
  local_answers(answer(200, document))
  board <- sl_collection(away(), "board")
  expect_equal(format(board), c(
    "Board: collection board, for everybody", "All.", "  Mass (penguins/mass, version 2)", "  a withdrawn figure"
  ))
  expect_equal(as_tibble(board)$withdrawn, c(FALSE, TRUE))
  expect_equal(as_tibble(board)$version, c(2L, NA))
})

test_that("a collection is made, read, granted and deleted", {
  skip_without_service()
  owner <- owner_of_all()
  released <- sl_release(penguins(), sl_mean("body_mass_g"), epsilon = 0.1, reuse = FALSE)
  for (name in c("one", "two")) sl_publish(owned_penguins(), name, name, released)
  made <- sl_put_collection(owner, "both", "Both", c("penguins/two", "penguins/one"), note = "In this order.")
  expect_equal(as_tibble(made)$figure, c("two", "one"))
  expect_equal(as_tibble(sl_collection(owner, "both")), as_tibble(made))
  expect_equal(sl_collections(owner, "BOTH")$title, "Both")
  expect_equal(nrow(sl_collections(owner, "no such collection")), 0)
  sl_grant_collection(owner, "both", "ada")
  expect_equal(sl_collection_viewers(owner, "both")$principal, "ada")
  expect_equal(sl_collection(sl_connect(), "both")$title, "Both")
  sl_revoke_collection(owner, "both", "ada")
  expect_equal(nrow(sl_collection_viewers(owner, "both")), 0)
  make <- function(...) sl_put_collection(owner, "both", "Again", "penguins/two", ...)
  expect_error(make(only_new = TRUE), class = "snapledger_already_exists")
  read <- sl_collection(owner, "both")
  sl_publish(owned_penguins(), "one", "Another title", released) # which the collection shows
  expect_error(make(if_match = read), class = "snapledger_precondition_failed")
  delete <- function(...) sl_delete_collection(owner, "both", ...)
  expect_error(delete(if_match = read$etag), class = "snapledger_precondition_failed")
  sl_withdraw(owned_penguins(), "one")
  expect_equal(as_tibble(sl_collection(owner, "both"))$withdrawn, c(FALSE, TRUE))
  sl_delete_collection(owner, "both")
  expect_error(sl_collection(owner, "both"), class = "snapledger_not_found")
})
