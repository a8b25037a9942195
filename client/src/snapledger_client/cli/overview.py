"""The names of all commands and a line about each, so that an overview needs to import none of them."""

REMOTE = {
    "login": "Check a key, and store it with the service's URL in a file that only you can read.",
    "logout": "Delete what `snapledger login` stored; the key itself stays valid.",
    "sign-in": "Sign in with your organisation's account, and stay signed in.",
    "sign-out": "Delete what `snapledger sign-in` stored, and revoke it at the provider.",
    "me": "Show who you are to the service, when your key expires, and what you may spend on which dataset.",
    "new-key": "Replace your own key; the old one stops working.",
    "plan": "Show what a release would cost and promise: free, and without reading any data.",
    "plan-without-data": "Show what a release would cost and promise on a table that the service does not have.",
    "release": "Release a differentially private statistic, and spend ε on it.",
    "batch": "Release many statistics at once: all of them or none.",
    "derived": "Derive a statistic from releases, and spend ε on those that do not exist yet.",
    "releases": "List the releases of a dataset or your own, oldest first; or show one.",
    "budget": "Show the budget of a dataset and your allowance; its owner sees all allowances.",
    "dataset": "List and show datasets; draft, register and close them, as their owner.",
    "connections": "List the connections that the operator configured; owners can register the tables behind them.",
    "ledger": "Show and verify a dataset's ledger.",
    "allowance": "Set what each principal may spend on a dataset; for its owner.",
    "budget-request": "Ask for a larger allowance, or answer those who ask.",
    "figure": "Publish answers under a name, and read them at no cost.",
    "viewer": "Set who may see a dataset's figures, and nothing else of it; for its owner.",
    "report": "Define batches that are released and published whenever new data of the same people is registered.",
    "collection": "Put figures together on a board, and set who may see it; for owners.",
    "principal": "Manage who may use the service; for admins.",
    "acts": "List the audit log of administrative acts, and verify it; for admins and auditors.",
    "status": "Show whether the service is ready: that it answers, and its database too; exit status 6 if not.",
    "metrics": "Print the service's metrics in Prometheus' text format; for admins and auditors.",
}
"""The commands that talk to a running service. They come with this package."""

SERVICE = {
    "serve": "Start the service; it migrates its database first unless SNAPLEDGER_AUTO_MIGRATE is false.",
    "migrate": "Bring the database to the schema of this version.",
    "create-key": "Print a new key for a principal, directly from the database: for when every key is lost.",
    "backup": "Copy the ledger, the data and a checkpoint consistently, while the service runs.",
    "restore": "Fill an empty database and data directory from a backup; then compare it with your latest checkpoint.",
    "migrate-to": "Move the whole ledger to another database, verify it there, and retire this one for good.",
    "demo": "Show what an analyst sees, on real data: a temporary service with the Palmer penguins.",
    "audit": "Compare the exact privacy and accuracy of releases with the claims; exit status 1 on any excess.",
}
"""The commands that run or maintain the service. They come with the package `snapledger`."""

SERVICE_IN_GROUPS = {
    "dataset": {
        "suggest": "Print a draft of a file's metadata; correct and confirm its bounds and categories before you "
        "upload it.",
        "reindex": "Compute the codes and the prepared sums of stored tables again, directly in the data directory, as "
        "the operator.",
    },
    "ledger": {
        "verify": "Compute every hash chain and sum again, and change nothing; exit status 1 on any problem.",
        "checkpoint": "Sign the heads of all hash chains: they show later whether a ledger was reset to an earlier "
        "state.",
        "public-key": "Print the public key of checkpoints' signatures, to be published; then those of earlier "
        "secrets.",
        "verify-checkpoint": "Check a checkpoint's signature and print what it holds; this needs neither database nor "
        "secret.",
        "write-off": "Spend ε on a dataset without a release, such as debits that a restored backup has lost.",
    },
}
"""The commands of the service that are in a group of this package."""

EXTENDED = {"ledger verify"}
"""The commands of this package that the service's package extends."""
