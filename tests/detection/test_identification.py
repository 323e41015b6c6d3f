"""A text in a language that a model was not trained on is told, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from vsr_hallucination.detection.identification import Languages
from vsr_hallucination.detection.language import Reader

# Evidence, an answer that holds, a short one that does not.
ROWS = [
    pytest.param(
        "Das Lager K7 in Hamburg hat im Mai 412 Kisten verschickt. "
        "Die Kosten betrugen 9.500 Euro. Der Leiter ist seit 2019 Jörg Brandt.",
        "Das Lager K7 verschickte im Mai 412 Kisten und gab dafür 9.500 Euro aus.",
        "Das Lager K7 hat im Mai 479 Kisten nach München geschickt.",
        id="German",
    ),
    pytest.param(
        "Der Rhein ist einer der längsten Flüsse Europas und entspringt in den Schweizer Alpen. "
        "Er mündet in die Nordsee.",
        "Der Rhein entspringt in den Schweizer Alpen und mündet in die Nordsee.",
        "Der Fluss entspringt im Schwarzwald.",
        id="German_2",
    ),
    pytest.param(
        "L'entrepôt K7 a expédié 412 caisses en mai pour un coût total de 9 500 euros. "
        "Le responsable s'appelle Luc Moreau.",
        "En mai, l'entrepôt K7 a expédié 412 caisses, ce qui a coûté 9 500 euros.",
        "L'entrepôt a expédié 479 caisses en juin.",
        id="French",
    ),
    pytest.param(
        "La tour Eiffel a été construite entre 1887 et 1889 pour l'Exposition universelle. "
        "Elle mesure 330 mètres de haut.",
        "La tour Eiffel a été construite entre 1887 et 1889 et mesure 330 mètres.",
        "Elle a été démontée après l'exposition.",
        id="French_2",
    ),
    pytest.param(
        "El almacén K7 envió 412 cajas en mayo con un coste de 9.500 euros. La directora es Ana Torres desde 2019.",
        "El almacén K7 envió 412 cajas en mayo y gastó 9.500 euros en ello.",
        "El almacén envió 479 cajas a Madrid en junio.",
        id="Spanish",
    ),
    pytest.param(
        "La Sagrada Familia es una basílica de Barcelona diseñada por Antoni Gaudí. Su construcción comenzó en 1882.",
        "La construcción de la Sagrada Familia comenzó en 1882 según el diseño de Gaudí.",
        "La obra fue terminada en el año 1990.",
        id="Spanish_2",
    ),
    pytest.param(
        "Il magazzino K7 ha spedito 412 casse a maggio al costo di 9.500 euro. "
        "La responsabile è Giulia Conti dal 2019.",
        "A maggio il magazzino K7 ha spedito 412 casse, con una spesa di 9.500 euro.",
        "Il magazzino ha spedito 479 casse verso Milano.",
        id="Italian",
    ),
    pytest.param(
        "O armazém K7 enviou 412 caixas em maio, com um custo de 9.500 euros. A diretora é Ana Teixeira desde 2019.",
        "Em maio, o armazém K7 enviou 412 caixas e gastou 9.500 euros com isso.",
        "O armazém enviou 479 caixas para Lisboa em junho.",
        id="Portuguese",
    ),
    pytest.param(
        "Het magazijn K7 verstuurde in mei 412 kratten voor een bedrag van 9.500 euro. "
        "De directeur is sinds 2019 Joost de Wit.",
        "In mei verstuurde het magazijn K7 412 kratten en dat kostte 9.500 euro.",
        "Het magazijn heeft in juni 479 kratten naar Utrecht gestuurd.",
        id="Dutch",
    ),
    pytest.param(
        "Lagret K7 skickade 412 lådor i maj till en kostnad av 9 500 euro. Chefen heter sedan 2019 Anna Lindqvist.",
        "I maj skickade lagret K7 412 lådor och det kostade 9 500 euro.",
        "Lagret skickade 479 lådor till Göteborg i juni.",
        id="Swedish",
    ),
    pytest.param(
        "Magazyn K7 wysłał w maju 412 skrzyń, a koszt wyniósł 9500 euro. Kierownikiem od 2019 roku jest Jan Nowak.",
        "W maju magazyn K7 wysłał 412 skrzyń i kosztowało to 9500 euro.",
        "Magazyn wysłał w czerwcu 479 skrzyń do Gdańska.",
        id="Polish",
    ),
    pytest.param(
        "K7 deposu mayıs ayında 412 kasa gönderdi ve bunun maliyeti 9.500 avro oldu. "
        "Müdür 2019'dan beri Ayşe Demir'dir.",
        "Mayıs ayında K7 deposu 412 kasa gönderdi ve 9.500 avro harcadı.",
        "Depo haziran ayında Ankara'ya 479 kasa gönderdi.",
        id="Turkish",
    ),
    pytest.param(
        "Gudang K7 mengirim 412 peti pada bulan Mei dengan biaya 9.500 euro. "
        "Kepala gudang sejak 2019 adalah Budi Santoso.",
        "Pada bulan Mei gudang K7 mengirim 412 peti dengan biaya 9.500 euro.",
        "Gudang itu mengirim 479 peti ke Surabaya pada bulan Juni.",
        id="Indonesian",
    ),
    pytest.param(
        "Kho K7 đã gửi 412 thùng hàng trong tháng Năm với chi phí 9.500 euro. "
        "Quản lý kho từ năm 2019 là bà Nguyễn Thị Hoa.",
        "Trong tháng Năm, kho K7 đã gửi 412 thùng hàng và tốn 9.500 euro.",
        "Kho đã gửi 479 thùng hàng đến Hà Nội vào tháng Sáu.",
        id="Vietnamese",
    ),
    pytest.param(
        "Lageret K7 sendte 412 kasser i maj, og det kostede 9.500 euro. Lederen har siden 2019 været Mette Holm.",
        "I maj sendte lageret K7 412 kasser, og det kostede 9.500 euro.",
        "Lageret sendte 479 kasser til Aarhus i juni.",
        id="Danish",
    ),
    pytest.param(
        "Varasto K7 lähetti toukokuussa 412 laatikkoa, ja se maksoi 9 500 euroa. "
        "Johtajana on ollut vuodesta 2019 Matti Virtanen.",
        "Toukokuussa varasto K7 lähetti 412 laatikkoa ja käytti siihen 9 500 euroa.",
        "Varasto lähetti kesäkuussa 479 laatikkoa Turkuun.",
        id="Finnish",
    ),
    pytest.param(
        "Sklad K7 odeslal v květnu 412 beden a stálo to 9 500 eur. Vedoucím je od roku 2019 Petr Novák.",
        "V květnu odeslal sklad K7 412 beden a zaplatil za to 9 500 eur.",
        "Sklad odeslal v červnu 479 beden do Brna.",
        id="Czech",
    ),
    pytest.param(
        "Depozitul K7 a expediat 412 lăzi în luna mai, la un cost de 9.500 de euro. "
        "Directorul este din 2019 Ion Popescu.",
        "În luna mai depozitul K7 a expediat 412 lăzi, ceea ce a costat 9.500 de euro.",
        "Depozitul a trimis 479 de lăzi la Cluj în iunie.",
        id="Romanian",
    ),
    pytest.param(
        "A K7 raktár májusban 412 ládát szállított el 9500 euró költséggel. A vezetője 2019 óta Kovács Péter.",
        "Májusban a K7 raktár 412 ládát szállított el, és ez 9500 euróba került.",
        "A raktár júniusban 479 ládát küldött Szegedre.",
        id="Hungarian",
    ),
]
ENGLISH = "Depot K7 shipped 412 crates in May at a cost of 9,500 euros. Its head since 2019 is Jörg Brandt."
# What an English reader must never refuse: too short to tell, no prose, or English around foreign words.
READABLE = [
    "Berlin, 1998",
    "Yes.",
    "412",
    "9.500 EUR",
    "Jörg Brandt",
    "François Hollande and Ségolène Royal",
    "São Paulo, Rio de Janeiro, Belo Horizonte",
    "Bundesministerium für Wirtschaft und Klimaschutz",
    "Universidad Nacional Autónoma de México",
    "À la recherche du temps perdu",
    "Vingt mille lieues sous les mers",
    "Crème brûlée, coq au vin, bouillabaisse, ratatouille",
    "Homo sapiens, Pan troglodytes, Gorilla gorilla",
    "Lorem ipsum",
    'The novel "Die unendliche Geschichte" was written by Michael Ende.',
    "The film “Le fabuleux destin d'Amélie Poulain” was directed by Jean-Pierre Jeunet.",
    "Jean-Baptiste Poquelin, known as Molière, wrote Le Bourgeois gentilhomme and L'Avare.",
    "The German phrase die Würde des Menschen ist unantastbar means that human dignity is inviolable.",
    "The depot of the Établissements Moreau et Fils in Clermont-Ferrand shipped 412 crates.",
    '{"Straße": "Hauptstraße 5", "Ort": "München", "Hinweis": "nur werktags geöffnet"}',
    "strasse: Hauptstraße 5\nort: München\nplz: 80331",
    "def fetch(self, url):\n    return self.session.get(url, timeout=5).json()",
    "```\n# das ist nur ein kurzer Kommentar in einem Programm\nx = 1\n```\nThis sets x.",
    "SELECT name, total FROM orders WHERE depot = 'K7' AND month = 5;",
    "https://example.com/de/wir-ueber-uns/was-wir-machen-und-warum.html",
    "| Depot | Crates |\n|---|---|\n| K7 | 412 |",
    "chad kroeger and ryan peake founded the band with two others.",
    "THE DEPOT SHIPPED 412 CRATES IN MAY.",
]


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader.of(["Latin"], ["en"])


@pytest.mark.parametrize(("evidence", "right", "short"), ROWS)
def test_answers_and_evidence_in_another_language_are_not_read(
    reader: Reader, evidence: str, right: str, short: str
) -> None:
    assert not reader.reads(right, ())
    assert not reader.reads_evidence([evidence])
    assert not reader.reads_evidence([ENGLISH[:40], evidence, short])
    assert not reader.reads(f"{right} {short}".upper(), ())


@pytest.mark.parametrize("text", READABLE)
def test_nothing_else_is_refused(reader: Reader, text: str) -> None:
    assert reader.reads(text, ())
    assert reader.reads_evidence([text, text])


def test_the_larger_part_counts(reader: Reader) -> None:
    german = ROWS[0].values[0]
    assert reader.reads(f"{ENGLISH} {ENGLISH} {german[:60]}", ())
    assert not reader.reads(f"{german} {german} {ENGLISH[:60]}", ())
    assert reader.reads_evidence([ENGLISH * 3, german])
    assert not reader.reads_evidence([ENGLISH, german * 3])


def test_a_long_text_is_sampled_from_end_to_end(reader: Reader) -> None:
    german = ROWS[0].values[0] + " "
    asked = 0

    def alive() -> None:
        nonlocal asked
        asked += 1

    languages = Languages.of(["en"], ["Latin"])
    assert languages is not None
    assert languages.foreign([german * 1000], alive)
    assert languages.foreign(["x "] * 3000 + [german] * 3000, alive)
    assert asked < 100
    assert languages.foreign([ENGLISH * 400 + german * 600])
    assert not languages.foreign([ENGLISH * 600 + german * 400])


def test_a_model_of_several_languages_reads_each_of_them() -> None:
    both = Reader.of(["Latin"], ["en", "de-AT"])
    assert both.reads(ROWS[0].values[1], ())
    assert both.reads(ENGLISH, ())
    assert not both.reads(ROWS[2].values[1], ())


@pytest.mark.parametrize("languages", [[], ["multilingual"], ["en", "tlh"]])
def test_languages_that_are_not_named_or_not_told_apart_restrict_nothing(languages: list[str]) -> None:
    assert Languages.of(languages) is None
    assert Reader.of([], languages).reads(ROWS[0].values[1], ())


ODD = ["", " ", "\x00", "\ud800 " * 50, "ｆｕｌｌ ｗｉｄｔｈ", "🧪" * 500, "a" * 100_000, "'" * 5000]


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_are_no_language(reader: Reader, text: str) -> None:
    assert reader.reads_evidence([text])
    assert reader.languages is not None and not reader.languages.foreign([text])
