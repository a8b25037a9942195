"""Lists of published figures: by name, by a text that their names or titles have, and the latest.

Each reads a window of an index, and joins only that with the versions. So a page costs what it shows. A search looks at
a limited number of figures for one page, and the next page goes on behind them.

Who may see a figure is here in SQL; `app.services.figures.figure_access` decides the same of one figure.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import BindParameter, ColumnElement, Subquery, bindparam, func, or_, select, tuple_, union

from app.db.compiled_statements import Query
from app.db.page_queries import containing
from app.db.repositories.datasets import visible_to
from app.db.session import Session
from app.db.tables import collection_figures, collection_viewers, datasets, figure_versions, figures, viewers
from app.ledger.chain.keyring import Keyring
from app.ledger.figures import LATEST, Published, is_sealed, published_of_row

MAX_SEARCHED = 5_000
"""The figures that one page of a search looks at."""

Place: TypeAlias = tuple[str, str]
"""The names of a dataset and a figure."""


@dataclass(frozen=True, slots=True)
class FigureListReader:
    """Who lists figures: a principal that sees every dataset, or some, or nobody (`principal_id` is None).

    In the list of one dataset, a principal that does not see all of it sees what collections and everybody may show.
    """

    principal_id: int | None = None
    sees_all: bool = False


class ListedFigure(NamedTuple):
    """A figure of a list, and whether its reader sees the dataset."""

    published: Published
    sees_dataset: bool


class FigurePage(NamedTuple):
    """A page of figures, and the place that the next page follows; None on the last one."""

    listed: list[ListedFigure]
    following: Place | None


_READER: BindParameter[int] = bindparam("reader", type_=datasets.c.owner_id.type)
_SEES = visible_to(_READER)
_READS = or_(_SEES, datasets.c.id.in_(select(viewers.c.dataset_id).where(viewers.c.principal_id == _READER)))
_IS_COLLECTED = figures.c.id.in_(
    select(collection_figures.c.figure_id)
    .join(collection_viewers, collection_viewers.c.collection_id == collection_figures.c.collection_id)
    .where(collection_viewers.c.principal_id == _READER)
)
_IS_SHOWN, _IS_PUBLIC = figures.c.withdrawn_at.is_(None), figures.c.public_from.is_not(None)
_AFTER_DATASET: BindParameter[str] = bindparam("after_dataset")
_AFTER_FIGURE: BindParameter[str] = bindparam("after_figure")
_AFTER = tuple_(_AFTER_DATASET, _AFTER_FIGURE)
_WINDOW: BindParameter[int] = bindparam("window")
_PATTERN = func.lower(bindparam("pattern", type_=figure_versions.c.title.type))
_IS_LIKE = or_(
    figures.c.name.like(_PATTERN, escape="\\"), func.lower(figure_versions.c.title).like(_PATTERN, escape="\\")
)
_PLACE = figures.c.dataset, figures.c.name
_FIELDS = figures.c.id, *_PLACE, figures.c.published_at


class _Order(NamedTuple):
    """The order of a list, and which figures follow the place where its page begins."""

    columns: tuple[ColumnElement[Any], ...]
    follows: tuple[ColumnElement[bool], ...] = ()


_BY_NAME = _Order(_PLACE, (tuple_(*_PLACE) > _AFTER,))
_IN_DATASET = _Order((figures.c.name,), (figures.c.dataset == _AFTER_DATASET, figures.c.name > _AFTER_FIGURE))
_BY_TIME = _Order((figures.c.published_at.desc(), figures.c.id.desc()))
# By the names of datasets, so that both databases read the figures of one dataset after the other, up to the limit.
_OF_READER_BY_NAME = _Order(
    (datasets.c.name, figures.c.name),
    (datasets.c.name >= _AFTER_DATASET, tuple_(datasets.c.name, figures.c.name) > _AFTER),
)


def _window(order: _Order, *conditions: ColumnElement[bool], of_reader: bool = False) -> Query:
    """Return the query for the first figures of a list."""
    query: Query = select(*_FIELDS)
    if of_reader:
        query = query.join_from(datasets, figures, figures.c.dataset_id == datasets.c.id).where(_READS)
    return query.where(_IS_SHOWN, *conditions, *order.follows).order_by(*order.columns).limit(_WINDOW)


def _merge(order: tuple[str, ...], *windows: Query, descending: bool = False) -> Subquery:
    """Return the first figures of several windows together."""
    merged = union(*(select(each.subquery()) for each in windows)).subquery()
    columns = [merged.c[name].desc() if descending else merged.c[name] for name in order]
    return select(merged).order_by(*columns).limit(_WINDOW).subquery()


class _List(NamedTuple):
    """The statements of a list: its page, and the last figure of a full window."""

    page: Query
    end: Query


@cache
def _list_by_name(*, in_dataset: bool, of_reader: bool, sees_all: bool) -> _List:
    order = _IN_DATASET if in_dataset else _BY_NAME
    if of_reader and not sees_all:
        own = () if in_dataset else (_window(_OF_READER_BY_NAME, of_reader=True),)
        window = _merge(("dataset", "name"), *own, _window(order, _IS_PUBLIC), _window(order, _IS_COLLECTED))
    else:
        window = _window(order, *(() if sees_all else (_IS_PUBLIC,))).subquery()
    page = _with_versions(window, of_reader=of_reader and not sees_all).where(_IS_LIKE).order_by(*_PLACE)
    place = window.c.dataset, window.c.name
    return _List(
        page.limit(bindparam("most")),
        select(*place).order_by(*place).limit(1).offset(bindparam("before_end")),
    )


@cache
def _latest(*, of_reader: bool, sees_all: bool) -> Query:
    if of_reader and not sees_all:
        own = _window(_BY_TIME, of_reader=True)
        others = _window(_BY_TIME, _IS_PUBLIC), _window(_BY_TIME, _IS_COLLECTED)
        window = _merge(("published_at", "id"), own, *others, descending=True)
    else:
        window = _window(_BY_TIME, *(() if sees_all else (_IS_PUBLIC,))).subquery()
    return _with_versions(window, of_reader=of_reader and not sees_all).order_by(*_BY_TIME.columns)


def _with_versions(window: Subquery, *, of_reader: bool) -> Query:
    """Return the query for the latest versions of the figures of a window, and whether their reader sees the dataset.

    The last column is left out if that is the same for all of them.
    """
    query: Query = LATEST.where(figures.c.id.in_(select(window.c.id)))
    seen = select(datasets.c.id).where(_SEES)
    return query.add_columns(figures.c.dataset_id.in_(seen).label("sees")) if of_reader else query


def page_of_figures(  # noqa: PLR0913 - who asks, and for what
    session: Session,
    keyring: Keyring,
    reader: FigureListReader,
    after: Place,
    limit: int,
    *,
    search: str = "",
    dataset: str | None = None,
) -> FigurePage:
    """Return at most `limit` published figures that a reader may see, by the names of dataset and figure.

    The page follows the dataset and the figure `after`. Only figures whose name or title contains `search`, in any
    case, are listed, and only those of one dataset, if it is given. A page
    of a search may have fewer figures, or none, before the last page. Figures that do not match their seals are left
    out: `find_unsealed` tells of them.
    """
    query = _list_by_name(in_dataset=dataset is not None, **_kind(reader))
    if dataset is not None:
        after = dataset, after[1] if after[0] == dataset else ""
    window = MAX_SEARCHED if search else limit + 1
    listed: list[ListedFigure] = []
    while True:
        within = _values(reader) | {"after_dataset": after[0], "after_figure": after[1], "window": window}
        rows = session.rows(query.page, **within, pattern=containing(search), most=limit + 1)
        listed += _open(keyring, reader, rows)
        if len(listed) > limit:
            return FigurePage(listed[:limit], _place_of(listed[limit - 1]))
        if len(rows) <= limit:
            end = session.row(query.end, **within, before_end=window - 1) if search else None
            return FigurePage(listed, None if end is None else (end.dataset, end.name))
        after = rows[-1].dataset, rows[-1].name


def latest_figures(session: Session, keyring: Keyring, reader: FigureListReader, limit: int) -> list[ListedFigure]:
    """Return at most `limit` published figures that a reader may see, the latest first, as `page_of_figures`."""
    return _open(keyring, reader, session.rows(_latest(**_kind(reader)), **_values(reader), window=limit))


def _kind(reader: FigureListReader) -> dict[str, bool]:
    return {"of_reader": reader.principal_id is not None, "sees_all": reader.sees_all}


def _values(reader: FigureListReader) -> dict[str, object]:
    return {} if reader.principal_id is None or reader.sees_all else {"reader": reader.principal_id}


def _open(keyring: Keyring, reader: FigureListReader, rows: list[Any]) -> list[ListedFigure]:
    """Return the rows of a list as figures, without those that do not match their seals."""
    some = bool(_values(reader))
    opened = [ListedFigure(published_of_row(row), bool(row[-1]) if some else reader.sees_all) for row in rows]
    return [each for each in opened if is_sealed(keyring, each.published)]


def _place_of(listed: ListedFigure) -> Place:
    return listed.published.dataset, listed.published.figure.name
