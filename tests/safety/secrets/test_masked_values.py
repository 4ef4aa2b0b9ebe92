"""A mask stands for one value of a file, and comes back as that value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.text.secret_forms import PASSWORD, SECRET_FORMS, TOKEN
from triage.safety.secrets.masked_values import hide_values, mask_again, mask_values, restore_values

TEXT = f'DB_PASSWORD = "{PASSWORD}"\nAPI_KEY = "{TOKEN}"\nOLD_PASSWORD = "{PASSWORD}"\n'


def test_each_value_has_its_number():
    masked = mask_values(TEXT, "a.py")
    assert masked.text == (
        'DB_PASSWORD = "[masked secret 1]"\nAPI_KEY = "[masked secret 2]"\nOLD_PASSWORD = "[masked secret 1]"\n'
    )
    assert masked.values == [PASSWORD, TOKEN]


@pytest.mark.parametrize("text", ["[masked secret]", "é [masked secret 7] é", "(masked secret)", "[Masked secret 1]"])
def test_what_looks_like_a_mask_already_comes_back_as_it_was(text: str):
    masked = mask_values(f'{text}\nAPI_KEY = "{TOKEN}"\n', "a.py")
    assert text not in masked.text.replace("[masked secret 1]", "", 1) or text == "[masked secret 1]"
    assert restore_values(masked.text, masked.values) == f'{text}\nAPI_KEY = "{TOKEN}"\n'


@pytest.mark.parametrize("form", SECRET_FORMS)
def test_every_form_comes_back(form: str):
    text, secret = SECRET_FORMS[form]
    masked = mask_values(f"é = 1\n{text}\nafter\n", "a.txt")
    assert secret not in masked.text
    assert restore_values(masked.text, masked.values) == f"é = 1\n{text}\nafter\n"


def test_another_version_has_the_same_numbers_and_a_new_secret_has_none():
    values = mask_values(TEXT, "a.py").values
    later = f'API_KEY = "{TOKEN}"\nNEW_KEY = "{TOKEN[::-1]}"\n'
    assert mask_again(later, "a.py", values) == 'API_KEY = "[masked secret 2]"\nNEW_KEY = "[masked secret]"\n'


def test_values_are_hidden_in_other_text():
    assert hide_values(f"left: {PASSWORD}", [TOKEN, PASSWORD]) == "left: [masked secret 2]"
    assert hide_values("an ordinary word", ["an"]) == "an ordinary word"


pieces = st.sampled_from(
    [*(text for text, _ in SECRET_FORMS.values()), "[masked secret 1]", "[masked secret]", "x = 1", "é\r\n", "\n", '"']
)


@given(st.lists(pieces | st.text(max_size=8), max_size=8).map("\n".join))
def test_any_text_comes_back(text: str):
    masked = mask_values(text, "a.py")
    assert restore_values(masked.text, masked.values) == text
    assert mask_again(text, "a.py", masked.values) == masked.text


@pytest.mark.parametrize("piece", ["[masked secret 1]", "[masked ", f'password = "{PASSWORD}"\n', "(masked secret "])
def test_hostile_text_takes_linear_time(piece: str):
    assert_grows_linearly(repeat_to(piece), lambda text: restore_values(*mask_values(text, "a.py")))
