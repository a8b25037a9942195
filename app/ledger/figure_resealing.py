"""Replaces the seals of figures from before it was stored which versions are shown, in their migration's transaction.

The old seal covers all from which the migration took what is new, except whether a version was withdrawn.
"""

from sqlalchemy import bindparam, select, update

from app.db.session import WriteSession
from app.db.tables import figures
from app.ledger.chain.keyring import Keyring
from app.ledger.figures import Figure, seal_figure

_OLD_VERSION = "snapledger-figure-v1"
_BATCH = 1_000
_PAGE = select(figures).where(figures.c.id > bindparam("after")).order_by(figures.c.id).limit(bindparam("most"))
_SEAL = update(figures).where(figures.c.id == bindparam("figure_id")).values(seal=bindparam("new_seal"))


def reseal_figures(transaction: WriteSession, keyring: Keyring) -> None:
    """Seal every figure whose old seal matches. Any other stays as it is, and is then not shown."""
    after = 0
    while rows := transaction.rows(_PAGE, after=after, most=_BATCH):
        for figure in (Figure(*row) for row in rows):
            if _has_old_seal(keyring, figure):
                transaction.change_one(_SEAL, figure_id=figure.id, new_seal=seal_figure(keyring.seal, figure))
        after = rows[-1].id


def _has_old_seal(keyring: Keyring, figure: Figure) -> bool:
    """Whether the old seal matches, and what is new is what the migration writes; later it would be a forgery."""
    expected = figure.public_from in {None, figure.version}
    old = figure.id, figure.dataset_id, figure.name, figure.version, figure.audience, figure.withdrawn_at
    return expected and keyring.is_sealed(figure.seal, _OLD_VERSION, *old)
