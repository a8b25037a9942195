# Signs in with a code, calls with tokens that last a second, and signs out.
library(snapledger)

connection <- sl_sign_in()
cat("role", sl_me(connection)$role, "\n")
Sys.sleep(1.1)
cat("renewed", sl_me(connection)$name, "\n")
sl_sign_out(connection)
tryCatch(sl_me(connection), snapledger_sign_in_error = function(error) cat("ended", "\n"))
