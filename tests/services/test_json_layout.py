"""Members are found where they are, whatever their values, and however the text is cut into pieces."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.json_layout import locate_members

texts = st.text(st.sampled_from('a"\\{}[],:é\u2028\n'), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
names = st.text(st.sampled_from("ab_,:{"), min_size=1, max_size=4)


@given(st.dictionaries(names, values, min_size=1, max_size=4), st.integers(1, 40))
def test_members_are_where_they_are(document: dict[str, Any], size: int) -> None:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    places = locate_members(pieces)
    assert list(places) == list(document)
    assert [json.loads(text[place.value : place.end]) for place in places.values()] == list(document.values())
    last = 0
    for place in places.values():
        assert place.start == last
        last = place.end
    assert last == len(text) - 1


@pytest.mark.parametrize("text", [b"", b"[1]", b'{"a"', b'{"a":1', b'{"a":"1}', b'{"a":[1}', b'{"a":1,}'])
@pytest.mark.parametrize("size", [1, 100])
def test_what_is_no_object_is_refused(text: bytes, size: int) -> None:
    with pytest.raises(ValueError, match=r"JSON|Expecting|Unterminated"):
        locate_members([text[at : at + size] for at in range(0, len(text), size)])
