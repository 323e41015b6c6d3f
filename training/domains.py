# ruff: noqa: E501 (tables: one fact reads better on few lines)
"""Domains of the generated tool results: what a record may hold and how people say it.

One fact: JSON key spellings, a value kind, full clauses ``{e}`` = entity ``{v}`` = value, and tails that
attach to another clause. A value kind is read by ``records.draw``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    keys: tuple[str, ...]
    kind: str
    clauses: tuple[str, ...]
    tails: tuple[str, ...]
    ask: str


@dataclass(frozen=True, slots=True)
class Domain:
    entity_keys: tuple[str, ...]
    noun: str
    entities: tuple[str, ...]
    facts: tuple[Fact, ...]


def _fact(keys: str, kind: str, clauses: str, tails: str, ask: str) -> Fact:
    def parts(text: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in text.split("|") if part.strip())

    return Fact(parts(keys), kind, parts(clauses), parts(tails), ask)


def _domain(keys: str, noun: str, entities: str, *facts: tuple[str, str, str, str, str]) -> Domain:
    split = tuple(part.strip() for part in entities.split("|"))
    return Domain(tuple(k.strip() for k in keys.split("|")), noun, split, tuple(_fact(*f) for f in facts))


# fmt: off
DOMAINS: tuple[Domain, ...] = (
    _domain("hub|hub_id|site", "hub", "hub #|North hub|hub @|the Leipzig hub|the airport hub",
        ("parcels|parcels_out|n_parcels|parcelCount", "int 80 90000",
         "{e} sent out {v} parcels|{v} parcels left {e}|{e} handled {v} parcels|{e} dispatched {v} parcels",
         "with {v} parcels handled", "How many parcels did {e} send out"),
        ("postage_eur|postage|shipping_cost", "money EUR 200 90000",
         "postage for {e} came to {v}|{e} spent {v} on postage", "at a cost of {v}|costing {v}|for {v} in postage",
         "and what did it cost"),
        ("returns|returned", "int 0 900", "{v} parcels came back|{e} recorded {v} returns",
         "with {v} returns|of which {v} were returned", "How many were returned")),
    _domain("flight|flight_no|flightNumber", "flight", "flight LH#|flight BA#|flight AF#|UA #|KL#",
        ("passengers|pax|booked", "int 20 420", "{e} carried {v} passengers|{v} passengers were on board {e}",
         "with {v} passengers on board", "How many passengers were on {e}"),
        ("delay_min|delay|delayMinutes", "dur min 3 340", "{e} was delayed by {v}|{e} left {v} late",
         "with a delay of {v}|{v} behind schedule", "how late was it"),
        ("gate|departure_gate", "code gate", "{e} leaves from gate {v}|The gate of {e} is {v}", "from gate {v}",
         "Which gate does {e} leave from"),
        ("destination|dest|to", "city", "{e} flies to {v}|{e} is bound for {v}", "to {v}|bound for {v}",
         "Where does {e} go")),
    _domain("store|store_id|branch", "store", "the @ store|store #|the branch in @|our @ shop",
        ("revenue_usd|revenue|sales_usd|turnover", "money USD 900 900000",
         "{e} took in {v}|sales at {e} came to {v}|{e} had revenue of {v}", "with sales of {v}|earning {v}",
         "What was the revenue of {e}"),
        ("customers|visitors|footfall", "int 40 30000", "{e} served {v} customers|{v} people visited {e}",
         "serving {v} customers|from {v} customers", "How many customers did {e} have"),
        ("conversion|conversion_rate|conversion_pct", "pct 2 60", "the conversion rate at {e} was {v}",
         "at a conversion rate of {v}", "what was the conversion rate")),
    _domain("patient_id|ward|unit", "ward", "ward #|ward @|unit #|the surgical ward|the intensive care unit",
        ("beds|beds_total|capacity", "int 6 900", "{e} has {v} beds|there are {v} beds in {e}", "with {v} beds",
         "How many beds does {e} have"),
        ("occupied|occupied_beds|beds_in_use", "int 4 800", "{v} beds are occupied|{e} has {v} beds in use",
         "of which {v} are occupied|with {v} in use", "how many are in use"),
        ("avg_stay_days|avg_stay|length_of_stay", "dur days 2 40", "patients in {e} stay {v} on average",
         "with an average stay of {v}", "How long do patients stay")),
    _domain("invoice|invoice_no|id", "invoice", "invoice INV-#|invoice #|bill #",
        ("amount_eur|total|amount|total_eur", "money EUR 15 90000", "{e} is for {v}|the total of {e} is {v}",
         "for {v}|totalling {v}", "What is the total of {e}"),
        ("due|due_date|dueDate", "date", "{e} is due on {v}|payment of {e} is due by {v}", "due on {v}",
         "When is {e} due"),
        ("customer|client|bill_to", "company", "{e} was sent to {v}|{e} was issued to {v}", "to {v}",
         "Who was {e} sent to"),
        ("status|state", "word paid;overdue;open;cancelled;disputed", "{e} is {v}|the status of {e} is {v}", "",
         "What is the status of {e}")),
    _domain("order|order_id|orderNumber", "order", "order #|order A-#|your order #|purchase #",
        ("items|item_count|quantity|qty", "int 2 400", "{e} contains {v} items|there are {v} items in {e}",
         "with {v} items", "How many items are in {e}"),
        ("total|total_usd|price", "money USD 9 6000", "{e} comes to {v}|the total for {e} is {v}",
         "for a total of {v}|at {v}", "and what is the total"),
        ("shipped|shipped_on|ship_date", "date", "{e} was shipped on {v}|{e} left our warehouse on {v}",
         "shipped on {v}", "When was {e} shipped"),
        ("carrier|shipped_with", "company", "{e} was shipped with {v}|{v} is delivering {e}", "with {v}",
         "Who delivers {e}")),
    _domain("city|location|place", "city", "@",
        ("temp_c|temperature|temperature_c|tempCelsius", "unit °C -18 41",
         "it is {v} in {e}|the temperature in {e} is {v}|{e} has {v} at the moment", "at {v}",
         "What is the temperature in {e}"),
        ("humidity|humidity_pct|rel_humidity", "pct 12 99", "humidity in {e} is {v}|the humidity stands at {v}",
         "with {v} humidity|and a humidity of {v}", "how humid is it"),
        ("wind_kmh|wind|wind_speed", "unit km/h 2 120", "the wind in {e} blows at {v}|winds reach {v} in {e}",
         "with winds of {v}", "How strong is the wind in {e}"),
        ("condition|sky|conditions", "word cloudy;sunny;rainy;snowy;foggy;clear;stormy", "it is {v} in {e}", "",
         "What is the weather in {e}")),
    _domain("employee|name|employee_name", "employee", "~",
        ("department|dept|team", "word engineering;marketing;finance;logistics;legal;sales;research",
         "{e} works in {v}|{e} belongs to the {v} team", "in {v}", "Which department is {e} in"),
        ("vacation_days|leave_left|days_off", "dur days 1 45", "{e} has {v} of leave left|{v} of leave remain for {e}",
         "with {v} of leave left", "How many vacation days does {e} have left"),
        ("hired|start_date|hire_date", "date", "{e} joined on {v}|{e} has been with us since {v}", "hired on {v}",
         "When did {e} join"),
        ("salary_usd|salary", "money USD 31000 240000", "{e} earns {v} a year|the salary of {e} is {v}",
         "on a salary of {v}", "What does {e} earn")),
    _domain("server|host|node|hostname", "server", "db-#|web-#|node-#|cache-#|api-gateway-#",
        ("cpu|cpu_pct|cpu_usage|load_pct", "pct 1 100", "CPU usage on {e} is {v}|{e} runs at {v} CPU",
         "at {v} CPU", "What is the CPU usage on {e}"),
        ("memory_gb|mem_used_gb|ram", "unit GB 2 900", "{e} uses {v} of memory|memory use on {e} is {v}",
         "using {v} of memory", "how much memory does it use"),
        ("uptime_days|uptime", "dur days 1 900", "{e} has been up for {v}", "after {v} of uptime",
         "How long has {e} been up"),
        ("errors|error_count|errors_5xx", "int 0 9000", "{e} logged {v} errors|{v} errors were recorded on {e}",
         "with {v} errors", "How many errors did {e} log")),
    _domain("team|club|side", "team", "@ United|FC @|the @ Hawks|@ Rovers|the @ Bears",
        ("wins|games_won|won", "int 1 60", "{e} won {v} games|{e} has {v} wins", "with {v} wins",
         "How many games did {e} win"),
        ("points|pts|points_total", "int 3 120", "{e} has {v} points|{e} collected {v} points", "on {v} points",
         "how many points do they have"),
        ("attendance|avg_attendance", "int 300 90000", "an average of {v} fans came to see {e}",
         "in front of {v} fans", "What was the attendance of {e}"),
        ("coach|head_coach|manager", "person", "{e} is coached by {v}|the coach of {e} is {v}", "under {v}",
         "Who coaches {e}")),
    _domain("field|plot|farm", "field", "field #|plot #|the @ farm|plot @",
        ("yield_t|yield_tonnes|harvest_t", "unit tonnes 3 900", "{e} yielded {v}|{e} produced {v}", "yielding {v}",
         "How much did {e} yield"),
        ("area_ha|hectares|area", "unit hectares 1 800", "{e} covers {v}|the area of {e} is {v}", "on {v}",
         "How large is {e}"),
        ("crop|planted", "word wheat;barley;maize;potatoes;rapeseed;soy;oats", "{e} is planted with {v}|{e} grows {v}",
         "of {v}", "What does {e} grow"),
        ("rain_mm|rainfall", "unit mm 2 400", "{e} got {v} of rain|{v} of rain fell on {e}", "with {v} of rain",
         "How much rain fell on {e}")),
    _domain("machine|asset|equipment_id", "machine", "press #|machine M-#|lathe #|robot R#|line #",
        ("units|units_produced|output", "int 20 90000", "{e} produced {v} units|{e} made {v} parts",
         "producing {v} units", "How many units did {e} produce"),
        ("downtime_h|downtime_hours|downtime", "dur hours 2 90", "{e} stood still for {v}|{e} had {v} of downtime",
         "with {v} of downtime", "how long was it down"),
        ("scrap_pct|scrap_rate|defect_rate", "pct 1 30", "the scrap rate of {e} was {v}", "at a scrap rate of {v}",
         "What was the scrap rate of {e}"),
        ("last_service|serviced_on", "date", "{e} was last serviced on {v}", "last serviced on {v}",
         "When was {e} last serviced")),
    _domain("account|account_id|iban_suffix", "account", "account #|your account|the savings account|account ending in #",
        ("balance|balance_eur|available", "money EUR 12 400000", "the balance of {e} is {v}|{e} holds {v}",
         "with a balance of {v}", "What is the balance of {e}"),
        ("interest|interest_pct|rate", "pct 1 9", "{e} pays {v} interest|the interest rate on {e} is {v}",
         "at {v} interest", "what is the interest rate"),
        ("transactions|tx_count", "int 2 700", "there were {v} transactions on {e}", "after {v} transactions",
         "How many transactions were there on {e}")),
    _domain("course|course_code|class", "course", "course #|CS-#|BIO #|the statistics course|MATH #",
        ("students|enrolled|enrollment", "int 8 900", "{v} students are enrolled in {e}|{e} has {v} students",
         "with {v} students", "How many students take {e}"),
        ("teacher|lecturer|instructor", "person", "{e} is taught by {v}|{v} teaches {e}", "with {v}", "Who teaches {e}"),
        ("pass_rate|passed_pct", "pct 30 100", "{v} of the students passed {e}|the pass rate of {e} was {v}",
         "at a pass rate of {v}", "What was the pass rate"),
        ("credits|ects", "int 2 30", "{e} is worth {v} credits", "for {v} credits", "How many credits is {e} worth")),
    _domain("hotel|property", "hotel", "Hotel @|the @ Inn|the Grand @|@ Palace",
        ("rooms|room_count", "int 8 900", "{e} has {v} rooms|there are {v} rooms at {e}", "with {v} rooms",
         "How many rooms does {e} have"),
        ("price_night|rate_usd|nightly_rate", "money USD 40 900", "a night at {e} costs {v}|{e} charges {v} per night",
         "at {v} per night", "what does a night cost"),
        ("rating|stars|score", "float 1 5", "{e} is rated {v}|guests give {e} a score of {v}", "rated {v}",
         "How is {e} rated"),
        ("checkin|check_in_from", "time", "check-in at {e} starts at {v}", "with check-in from {v}",
         "When can I check in at {e}")),
    _domain("film|title|movie", "film", "the film `|`|the movie `",
        ("year|released|release_year", "year", "{e} came out in {v}|{e} was released in {v}", "from {v}",
         "When did {e} come out"),
        ("runtime_min|length|runtime", "dur minutes 60 210", "{e} runs for {v}|{e} is {v} long", "running {v}",
         "How long is {e}"),
        ("director|directed_by", "person", "{e} was directed by {v}|{v} directed {e}", "by {v}", "Who directed {e}"),
        ("gross_usd|box_office", "money USD 90000 900000000", "{e} grossed {v}|{e} earned {v} at the box office",
         "grossing {v}", "What did {e} earn")),
    _domain("vehicle|truck|plate", "vehicle", "truck #|van #|vehicle B-#|bus #|tram #",
        ("km|mileage_km|odometer", "unit km 900 400000", "{e} has driven {v}|the mileage of {e} is {v}", "after {v}",
         "What is the mileage of {e}"),
        ("fuel_l|fuel|diesel_l", "unit litres 10 900", "{e} used {v} of fuel|{e} burned {v} of diesel", "using {v} of fuel",
         "how much fuel did it use"),
        ("driver|driver_name", "person", "{e} was driven by {v}|the driver of {e} was {v}", "with {v} at the wheel",
         "Who drove {e}"),
        ("stops|stop_count", "int 2 90", "{e} made {v} stops", "with {v} stops", "How many stops did {e} make")),
    _domain("project|project_name|repo", "project", "project `|`|the ` project",
        ("open_issues|issues_open|issues", "int 1 4000", "{e} has {v} open issues|there are {v} open issues in {e}",
         "with {v} open issues", "How many open issues does {e} have"),
        ("budget_usd|budget", "money USD 4000 4000000", "{e} has a budget of {v}|the budget of {e} is {v}",
         "on a budget of {v}", "What is the budget of {e}"),
        ("lead|owner|maintainer", "person", "{e} is led by {v}|the owner of {e} is {v}", "led by {v}", "Who leads {e}"),
        ("version|latest_version", "version", "the latest version of {e} is {v}|{e} is at version {v}",
         "at version {v}", "What is the latest version of {e}"),
        ("progress|done_pct|complete", "pct 1 100", "{e} is {v} complete", "with {v} done", "How far along is {e}")),
    _domain("sensor|sensor_id|device", "sensor", "sensor #|probe #|meter #|device X#|the @ gauge",
        ("reading|value|last_value|measurement", "float 1 900", "{e} reads {v}|the last reading of {e} is {v}",
         "reading {v}", "What does {e} read"),
        ("battery|battery_pct|battery_level", "pct 2 100", "the battery of {e} is at {v}|{e} has {v} battery left",
         "with {v} battery", "What is the battery level of {e}"),
        ("last_seen|last_contact", "date", "{e} last reported on {v}", "last seen on {v}", "When did {e} last report")),
    _domain("ticket|ticket_id|case", "ticket", "ticket #|case #|incident INC-#|request #",
        ("priority|prio", "word high;low;medium;critical;urgent", "{e} has {v} priority|the priority of {e} is {v}",
         "with {v} priority", "What priority does {e} have"),
        ("assignee|assigned_to|agent", "person", "{e} is assigned to {v}|{v} is working on {e}", "assigned to {v}",
         "Who works on {e}"),
        ("age_hours|open_hours", "dur hours 2 900", "{e} has been open for {v}", "open for {v}",
         "How long has {e} been open"),
        ("comments|replies", "int 1 90", "{e} has {v} comments", "with {v} replies", "How many comments does {e} have")),
    _domain("country|region|state", "region", "@|the @ region|@ county",
        ("population|inhabitants|pop", "int 900 90000000", "{e} has {v} inhabitants|the population of {e} is {v}",
         "with {v} inhabitants", "What is the population of {e}"),
        ("unemployment|unemployment_pct", "pct 1 28", "unemployment in {e} is {v}|{v} of people in {e} are out of work",
         "with unemployment at {v}", "What is the unemployment rate in {e}"),
        ("area_km2|area", "unit km² 20 900000", "{e} covers {v}|the area of {e} is {v}", "on {v}", "How large is {e}"),
        ("capital|seat", "city", "the capital of {e} is {v}|{e} is governed from {v}", "", "What is the capital of {e}")),
    _domain("product|sku|item", "product", "the ` lamp|item #|SKU-#|the ` chair|the ` jacket|model X#",
        ("stock|in_stock|stock_level|onHand", "int 1 9000", "we have {v} pieces of {e} in stock|{e}: {v} in stock",
         "with {v} in stock", "How many of {e} are in stock"),
        ("price_eur|price|unit_price", "money EUR 2 4000", "{e} costs {v}|the price of {e} is {v}", "at {v}|priced at {v}",
         "What does {e} cost"),
        ("weight_kg|weight", "unit kg 1 400", "{e} weighs {v}|the weight of {e} is {v}", "weighing {v}",
         "How much does {e} weigh"),
        ("color|colour", "word red;blue;green;black;white;grey;beige", "{e} comes in {v}|{e} is {v}", "in {v}",
         "What colour is {e}"),
        ("rating|avg_rating", "float 1 5", "{e} is rated {v} out of 5", "with a rating of {v}", "How is {e} rated")),
    _domain("study|trial|experiment", "study", "trial #|study `|the ` trial|experiment #",
        ("participants|n|subjects", "int 12 9000", "{e} had {v} participants|{v} people took part in {e}",
         "with {v} participants", "How many people took part in {e}"),
        ("response_rate|responders_pct", "pct 4 97", "{v} of participants responded|the response rate in {e} was {v}",
         "with a response rate of {v}", "What was the response rate"),
        ("dose_mg|dose", "unit mg 2 900", "the dose in {e} was {v}|participants of {e} received {v}", "at a dose of {v}",
         "What dose was used in {e}"),
        ("lead_author|investigator|pi", "person", "{e} was led by {v}", "under {v}", "Who led {e}")),
    _domain("reservoir|river|station", "station", "the @ station|station #|the @ reservoir|pump #",
        ("level_m|water_level|level", "float 1 90", "the level at {e} is {v} metres|{e} stands at {v} metres",
         "at a level of {v} metres", "What is the water level at {e}"),
        ("flow_m3s|flow", "unit m³/s 2 900", "the flow at {e} is {v}", "with a flow of {v}", "how high is the flow"),
        ("visits|inspections", "int 1 90", "{e} was inspected {v} times|there were {v} inspections of {e}",
         "after {v} inspections", "How often was {e} inspected")),
    _domain("campaign|ad_group|newsletter", "campaign", "campaign #|the ` campaign|newsletter #|the spring campaign",
        ("clicks|click_count", "int 20 900000", "{e} got {v} clicks|{v} people clicked on {e}", "with {v} clicks",
         "How many clicks did {e} get"),
        ("spend|spend_eur|cost", "money EUR 20 90000", "we spent {v} on {e}|{e} cost {v}", "for {v}|at a cost of {v}",
         "and what did it cost"),
        ("open_rate|ctr_pct|ctr", "pct 1 80", "the open rate of {e} was {v}", "at an open rate of {v}",
         "What was the open rate of {e}")),
    _domain("library|museum|venue", "museum", "the @ museum|the @ library|the ` theatre|the @ zoo",
        ("visitors|visits|guests", "int 90 900000", "{e} welcomed {v} visitors|{v} people visited {e}",
         "with {v} visitors", "How many visitors did {e} have"),
        ("opened|founded|since", "year", "{e} opened in {v}|{e} was founded in {v}", "open since {v}",
         "When did {e} open"),
        ("director|head", "person", "{e} is run by {v}|the director of {e} is {v}", "under {v}", "Who runs {e}"),
        ("ticket_eur|entry|admission", "money EUR 2 60", "admission to {e} is {v}|a ticket for {e} costs {v}", "for {v}",
         "What is the admission to {e}")),
)

FIRST = tuple("Anna Ben Carla David Elena Farid Greta Hugo Ines Jonas Karin Liam Maya Nils Olga Pedro Quentin Rosa Samir "
              "Tessa Umar Vera Walter Xenia Yusuf Zoe Ahmed Bianca Chen Diego Emma Felix Hana Ivan Julia Kofi Laura Marco "
              "Nadia Oscar Priya Ravi Sofia Tom Ursula Victor Wei Aiko Mei Lukas Noah Petra".split())
LAST = tuple("Adler Becker Costa Dubois Evans Fischer Garcia Hansen Ito Jensen Kowalski Lopez Moreau Nguyen Okafor Patel "
             "Quinn Rossi Schmidt Tanaka Ueda Vogel Weber Xu Young Zimmer Andersson Bauer Clark Diaz Engel Fontaine Gupta "
             "Hoffmann Ivanov Jones Khan Larsen Meyer Novak Owens Pereira Reyes Silva Turner Ulrich Varga Winter "
             "Lindqvist Brown Walsh Romero".split())
CITIES = tuple("Lisbon|Porto|Lyon|Bremen|Graz|Basel|Ghent|Oslo|Bergen|Turin|Seville|Krakow|Brno|Riga|Tallinn|Cork|Leeds|"
               "Austin|Denver|Boston|Toronto|Osaka|Nagoya|Busan|Taipei|Hanoi|Jakarta|Nairobi|Accra|Cairo|Amman|Izmir|Athens|"
               "Sofia|Zagreb|Trieste|Malaga|Nantes|Rotterdam|Aarhus|Malmo|Tampere|Dresden|Kassel|Ulm|Linz|Bern|Perth|"
               "Brisbane|Wellington|Lima|Quito|Bogota|Santiago|Recife|Montreal|Calgary|Dallas|Omaha|Tucson".split("|"))
COMPANIES = tuple("Nordwind|Acme Tools|Bluebird Logistics|Hartmann & Sons|Delta Foods|Orion Labs|Kestrel Energy|Fennel Ltd|"
                  "Maple Works|Silverline|Quartz Media|Tidewater|Polaris Freight|Green Valley|Redstone|UPS|DHL|Corvus GmbH|"
                  "Helios AG|Aurora Textiles|Bright Health|Kappa Systems|Lumen Bank|Sable Motors|Vega Retail".split("|"))
TITLES = tuple("Silent River|Falcon|Northern Light|Aurora|Atlas|Copper Sky|Mercury|Paper Moon|Harvest|Cobalt|Lantern|Orchid|"
               "Winter Road|Sandstone|Echo|Meridian|Juniper|Blue Hour|Tempest|Granite|Horizon|Willow|Comet|Basalt".split("|"))
MONTHS = tuple("January February March April May June July August September October November December".split())

# Free-standing keys: any of these with any qualifier, so that no closed list of key names can be learnt.
KEY_NOUNS = tuple("tickets refunds orders visits calls meetings messages downloads uploads requests bookings seats rooms "
                  "pages views votes shares points hours shifts pallets boxes bottles cartons samples tests batches units "
                  "licenses seats sessions alerts incidents users subscribers members donors volunteers employees guests "
                  "patients trees turbines panels meters pumps valves bricks tiles chairs desks laptops phones cameras "
                  "bikes trucks buses trains flights trips routes stops claims policies contracts invoices payments "
                  "deposits loans shares grants papers citations reviews replies followers posts photos songs albums "
                  "concerts goals matches medals laps steps calories eggs loaves cups barrels containers permits".split())
KEY_QUALIFIERS = tuple("open closed pending total new returned cancelled active failed completed sold booked delayed "
                       "approved rejected unread daily weekly monthly annual planned actual remaining missing overdue "
                       "processed scheduled confirmed lost repaired inspected shared average maximum minimum".split())

# Plausible content nothing in the record says: what a model adds on its own.
INVENTED: tuple[str, ...] = (
    "The {n} was founded in {y} by {p}.",
    "It was opened in {y} and has been expanded twice since then.",
    "This is {q} % more than in the previous {per}.",
    "That is a rise of {q} percent on the year before.",
    "The increase was mainly due to {cause}.",
    "{p}, who is in charge of the {n}, called the result a success.",
    "It is the largest {n} in {c}.",
    "The {n} employs about {i} people.",
    "The {n} is located near {c}.",
    "A new contract with {co} was signed in {m}.",
    "The figures were confirmed by {p} on {d}.",
    "{co} has been a partner since {y}.",
    "The {n} has won several awards for its {quality}.",
    "Costs are expected to fall by {q} % next year.",
    "The decline is explained by {cause}.",
    "An audit by {co} found no irregularities.",
    "The {n} plans to hire {i} more people by {m}.",
    "The next review is scheduled for {d}.",
    "It was named after {p}, an engineer from {c}.",
    "The previous record of {i} was set in {y}.",
    "This ranks it among the top {small} in the region.",
    "Most of it goes to customers in {c} and {c2}.",
    "The {n} is owned by {co}.",
    "Roughly {q} % of that comes from {c}.",
    "Because of {cause}, the {n} was closed for two weeks in {m}.",
    "The contract runs until {y2}.",
    "Its {quality} is well above the industry average.",
    "The {n} belongs to a network of {small} sites.",
    "{p} took over the {n} in {y}.",
    "The work was carried out by {co} under the supervision of {p}.",
    "A refund of ${i} will be issued within {small} days.",
    "You can contact {p} at extension {i} for details.",
    "The {n} also offers free delivery to {c}.",
    "It has been recommended by {p} of {co}.",
    "Delays are likely because of {cause}.",
    "There were no complaints during that time.",
    "Compared with {c}, that is a low figure.",
    "The target of {i} was therefore missed.",
    "It was moved from {c} to {c2} in {y}.",
    "The warranty covers repairs for {small} years.",
    "Analysts at {co} expect the trend to continue.",
    "The team was led by {p} and {p2}.",
    "The last inspection, on {d}, found {small} minor defects.",
    "Insurance paid {i} euros for the damage.",
    "The software was updated to version {small}.{small2} in {m}.",
    "It uses solar power for {q} % of its needs.",
)
# The same as a clause inside a sentence, before its full stop.
INVENTED_CLAUSES: tuple[str, ...] = (
    ", {q} % more than in {m}", ", up {q} percent from the previous {per}", " because of {cause}", ", mainly due to {cause}",
    ", the highest figure since {y}", ", down from {i} a year earlier", ", as confirmed by {p}", ", which is below the target of {i}",
    ", according to {co}", ", thanks to {cause}", ", a new record for the {n}", ", compared with {i} in {c}",
    " under a contract with {co}", ", most of it in {c}", ", after {p} took over", ", roughly {small} times the average",
    ", {q}% of it from {c}", " despite {cause}", ", on behalf of {co}", ", as planned in {m}", ", and {p} signed it off",
)
CAUSES = tuple("a strike at the port|heavy rain|a shortage of staff|strong demand from abroad|higher fuel prices|"
               "a software error|the summer holidays|new safety rules|a change of supplier|better planning|a fire in {m}|"
               "lower energy prices|a marketing campaign|road works|the late harvest|a successful product launch".split("|"))
QUALITIES = tuple("reliability|customer service|energy efficiency|safety record|design|sustainability|speed|quality".split("|"))
