"""Word lists of our own for the synthetic pairs: what says the same, what says the opposite, what stands for a number."""

from __future__ import annotations

import re

# Either word may stand for the other without changing what is said.
SAME = """
bought purchased|started began|finished completed|created made|large big|huge enormous|rapidly quickly|about approximately
around roughly|many numerous|often frequently|famous well-known|located situated|died passed_away|also additionally
mainly primarily|mostly largely|because since|however nevertheless|although though|several a_number_of|help assist
helped assisted|show demonstrate|showed demonstrated|shows demonstrates|use utilise|used utilised|received got|given granted
founded established|built constructed|released published|obtained acquired|children kids|film movie|physician doctor
attorney lawyer|automobile car|near close_to|almost nearly|usually typically|usually normally|wrote authored|written authored
said stated|says states|said reported|announced declared|won gained|required needed|requires needs|allowed permitted
allows permits|caused led_to|causes leads_to|resulted_in led_to|increase rise|increased rose|decreased fell|decline drop
important significant|main principal|first initial|final last|former previous|later subsequently|currently at_present
entire whole|various different|difficult hard|simple easy|ill sick|begins starts|ended concluded|ends concludes|chosen selected
chose selected|elected voted_in|attempted tried|attempts tries|known recognised|called named|moved relocated|joined became_part_of
left departed_from|remained stayed|continued went_on|contains includes|contained included|consists_of is_made_up_of
comprises consists_of|appeared showed_up|developed worked_out|discovered found|destroyed ruined|defeated beat|attacked assaulted
killed slain|led headed|led directed|married wed|grew expanded|sold marketed|gave provided|gives provides|offered provided
produced made|produces makes|formed set_up|held organised|occurred happened|occurs happens|occurred took_place
United_States US|United_States U.S.|United_States USA|United_Kingdom UK|United_Kingdom Britain|percent per_cent|company firm
song track|novel book|city town|people individuals|women females|region area|part portion|role part|battle fight|war conflict
beautiful attractive|rich wealthy|poor impoverished|old aged|small little|fast quick|strong powerful|modern contemporary
total overall|enough sufficient|primary main|method approach|goal aim|job position|residents inhabitants|revenue income
""".replace("\n", "|")

# The one makes a claim wrong where the text says the other.
OPPOSITE = """
first last|before after|largest smallest|highest lowest|more less|most least|increased decreased|increase decrease|won lost
north south|east west|northern southern|eastern western|oldest youngest|older younger|higher lower|larger smaller|better worse
best worst|always never|all few|many few|male female|men women|father mother|son daughter|brother sister|husband wife
began ended|opened closed|accepted rejected|agreed disagreed|allowed prohibited|allows prohibits|approved rejected|born buried
bought sold|buy sell|early late|earlier later|earliest latest|former current|gained lost|good bad|hot cold|import export
inside outside|internal external|joined left|legal illegal|long short|longer shorter|major minor|majority minority|maximum minimum
natural artificial|new old|newest oldest|north_of south_of|positive negative|possible impossible|public private|rich poor
rural urban|same different|similar different|strong weak|success failure|successful unsuccessful|success failure|support oppose
supported opposed|supports opposes|tall short|upper lower|victory defeat|warm cool|wide narrow|wet dry|young old|above below
ancient modern|common rare|complete partial|created destroyed|built demolished|defeated lost_to|easy difficult|expanded shrank
rose fell|rise fall|fast slow|found lost|founded dissolved|free costly|full empty|heavy light|included excluded|includes excludes
known unknown|large small|live die|married divorced|over under|permanent temporary|popular unpopular|praised criticised
prevented caused|prevents causes|profit loss|raised lowered|safe dangerous|simple complex|started stopped|starts stops|student teacher
sunny rainy|true false|usually rarely|often rarely|winter summer|wrote read|at_least at_most|more_than less_than|king queen
prince princess|democratic republican|liberal conservative|left right|forward backward|active inactive|alive dead|military civilian
domestic foreign|national local|single double|half twice|increasing decreasing|rising falling|up down|within outside|with without
only not_only|succeeded preceded|followed preceded|follows precedes|promoted demoted|hired fired|elected defeated|attack defend
""".replace("\n", "|")

# Another relation between the same things.
RELATIONS = """
directed produced wrote starred_in|wrote edited translated|founded bought joined|born_in died_in educated_in|son_of brother_of father_of nephew_of
married_to related_to engaged_to|invented used improved|capital_of suburb_of port_of|member_of founder_of critic_of|president chairman secretary treasurer
actor director producer screenwriter|singer guitarist drummer pianist|author editor publisher illustrator|played_for coached managed
architect painter sculptor|physicist chemist biologist mathematician|river lake mountain valley|album single film novel
owned_by sued_by named_after|located_in founded_in moved_to|based_on inspired_by similar_to|led_by opposed_by supported_by
king duke count bishop|goalkeeper defender midfielder striker|professor student dean|mayor governor senator|army navy police
professional amateur|American British Canadian Australian|French German Italian Spanish|Japanese Chinese Korean|Christian Muslim Jewish Hindu
university college hospital museum|company charity agency|village city county province|drama comedy thriller documentary
January February March April May June July August September October November December
Monday Tuesday Wednesday Thursday Friday Saturday Sunday|spring summer autumn winter
million billion thousand|kilometres metres miles|years months weeks days|north south east west|red blue green yellow black white
""".replace("\n", "|")

NUMBER_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]

# Details that a text does not give, put at the end of a claim.
EXTRAS = [
    "in {place}", "in {year}", "with the help of {name}", "together with {name}", "for the first time", "according to {name}",
    "because of financial problems", "after a long dispute", "despite strong criticism", "at a cost of ${number} million", "against the advice of {name}",
    "in order to save money", "for health reasons", "in front of {number} people", "for the second time", "on behalf of {name}", "in response to {name}",
    "which surprised many experts", "for which an award was given", "before moving to {place}", "after leaving {place}", "at the request of {name}",
    "as the result of a public vote", "although {name} disagreed", "for more than {number} years", "every {number} years",
]  # fmt: skip

VOICES = [
    "According to the text, {x}", "The passage states that {x}", "Based on the provided context, {x}", "The document says that {x}",
    "It is stated that {x}", "As mentioned in the text, {x}", "Yes, {x}", "The context indicates that {x}", "In summary, {x}", "I think {x}", "Overall, {x}",
    "The article notes that {x}", "From the information given, {x}", "Note that {x}", "Sure! {x}", "In other words, {x}", "Well, {x}", "Actually, {x}",
]  # fmt: skip

ANSWER_VOICES = [
    "{a}", "{a}.", "{a}", "It is {a}.", "It was {a}.", "The answer is {a}.", "Based on the provided context, the answer is {a}.", "The correct answer is {a}.",
    "According to the passage, it is {a}.", "I believe the answer is {a}.", "Based on the information provided, {a}.", "Answer: {a}", "That would be {a}.",
    "The context says that it was {a}.", "Sure! The answer is {a}. Let me know if you need anything else.", "To answer your question: {a}.",
    "From the context, {a} is the answer.", "{a}, according to the document.", "It's {a}.", "{a} (see the provided context).", "**{a}**",
    "Based on the given context, the answer to your question is {a}. I hope this helps!", "The text mentions {a}.", "As stated in the passage, {a}.",
]  # fmt: skip

REFUSALS = [
    "I don't know.", "The provided context does not contain this information.", "I'm sorry, but I cannot answer that question based on the given context.",
    "There is not enough information to answer the question.", "The answer is not mentioned in the passage.", "I could not find an answer.", "N/A",
    "As an AI language model, I do not have access to that information.", "It is unclear from the text.", "Unknown.", "The context does not specify this.",
    "Unfortunately, the documents do not say. You may want to consult an official source.", "insufficient information", "",
]  # fmt: skip

HEDGES = [
    "However, the exact details are not given.", "This is stated directly in the passage.", "I hope this helps!", "Please let me know if you need more details.",
    "Note that other sources may differ.", "This information comes from the provided context.", "There is more to say about this topic.",
]  # fmt: skip

# Names that everybody knows under another one.
ALIASES = {
    "United States": ["the US", "the USA", "America", "the U.S."], "United Kingdom": ["the UK", "Britain", "Great Britain"], "Soviet Union": ["the USSR", "the U.S.S.R."],
    "United Nations": ["the UN"], "European Union": ["the EU"], "New York City": ["New York", "NYC"], "Los Angeles": ["LA", "L.A."], "Washington, D.C": ["Washington", "the US capital"],
    "World War II": ["the Second World War", "WWII", "World War 2", "WW2"], "World War I": ["the First World War", "WWI", "World War 1", "the Great War"],
    "Second World War": ["World War II", "WWII"], "First World War": ["World War I", "WWI"], "UK": ["the United Kingdom", "Britain"], "US": ["the United States", "America"],
    "U.S": ["the United States", "America"], "USA": ["the United States", "America"], "UN": ["the United Nations"], "EU": ["the European Union"], "NASA": ["the National Aeronautics and Space Administration"],
    "FBI": ["the Federal Bureau of Investigation"], "CIA": ["the Central Intelligence Agency"], "BBC": ["the British Broadcasting Corporation"], "NATO": ["the North Atlantic Treaty Organization"],
    "NFL": ["the National Football League"], "NBA": ["the National Basketball Association"], "IMF": ["the International Monetary Fund"], "WHO": ["the World Health Organization"],
    "World Health Organization": ["the WHO"], "Supreme Court": ["the SCOTUS", "the country's highest court"], "Netherlands": ["Holland"], "Russia": ["the Russian Federation"],
    "China": ["the People's Republic of China", "the PRC"], "Germany": ["the Federal Republic of Germany"], "American": ["from the United States", "of the United States"],
    "British": ["from Britain", "from the United Kingdom"], "French": ["from France", "of France"], "German": ["from Germany"], "Italian": ["from Italy"], "Japanese": ["from Japan"],
    "California": ["the state of California", "CA"], "Texas": ["the state of Texas"], "Florida": ["the state of Florida"], "London": ["the British capital", "the capital of England"],
    "Paris": ["the French capital", "the capital of France"], "Tokyo": ["the Japanese capital"], "Moscow": ["the Russian capital"], "Christmas": ["December 25"],
    "English": ["the English language"], "Earth": ["our planet", "the Earth"], "Jesus": ["Jesus Christ", "Christ"], "God": ["the Lord"], "Bible": ["the Holy Scripture"],
    "World Trade Center": ["the Twin Towers", "the WTC"], "Great Depression": ["the Depression of the 1930s"], "Renaissance": ["the Renaissance period"],
}  # fmt: skip

# Answers that talk about the reference and give another one, and the other way round: {a} is turned down, {b} is meant.
CORRECTIONS = [
    "It was not {a} but {b}.", "Although some say {a}, the answer is {b}.", "Not {a}; it is {b}.", "{a} is wrong: the right answer is {b}.",
    "While {a} is mentioned in the text, the answer is {b}.", "Many people think of {a} here, but it was actually {b}.", "You might expect {a}. In fact it was {b}.",
    "{b}. (Not to be confused with {a}.)", "It is {b}, not {a}.", "The answer is {b}; {a} came only later.", "{b} rather than {a}.", "Contrary to popular belief it was {b} and not {a}.",
    "Unlike {a}, which is often named, {b} is the correct answer.", "Some sources say {a}, but the correct answer is {b}.", "Before {a} there was {b}, which is the answer to your question.",
]  # fmt: skip

YES_VOICES = ["Yes.", "Yes", "yes, that is right.", "Yes, {x}", "That is correct: {x}", "Correct.", "Indeed, {x}", "Yes. According to the context, {x}", "Based on the provided context, yes: {x}", "True.", "{x}", "It is true that {x}"]  # fmt: skip
NO_VOICES = ["No.", "No", "no, that is not so.", "No, {x}", "That is not correct: {x}", "Incorrect.", "No. According to the context, {x}", "Based on the provided context, no: {x}", "False.", "Actually, {x}", "Not quite: {x}"]  # fmt: skip

MEN = frozenset(
    re.findall(
        r"\w+",
        """James John Robert Michael William David Richard Joseph Thomas Charles Christopher Daniel Matthew Anthony Mark Donald Steven Steve Paul Andrew Andy
    Joshua Kenneth Kevin Brian George Timothy Tim Ronald Edward Jason Jeffrey Jeff Ryan Jacob Gary Nicholas Nick Eric Jonathan Stephen Larry Justin Scott
    Brandon Benjamin Ben Samuel Sam Gregory Greg Alexander Alex Frank Patrick Raymond Ray Jack Dennis Jerry Tyler Aaron Jose Adam Nathan Henry Douglas
    Zachary Peter Kyle Noah Ethan Jeremy Walter Christian Keith Roger Terry Austin Sean Gerald Carl Harold Dylan Arthur Lawrence Jordan Jesse Bryan Billy
    Bruce Gabriel Joe Logan Alan Juan Albert Willie Elijah Wayne Randy Vincent Mason Roy Ralph Bobby Russell Bradley Philip Phil Eugene Tom Bill Bob Jim Mike
    Dave Dan Tony Louis Fred Harry Oscar Hugh Ian Neil Simon Martin Max Karl Hans Friedrich Otto Johann Ludwig Wolfgang Heinrich Wilhelm Franz Pierre Jean
    Jacques Marcel Antoine Giovanni Giuseppe Leonardo Carlos Pedro Miguel Luis Fernando Ivan Vladimir Nikolai Sergei Mikhail Leo Ernest Winston Oliver
    Edgar Clark Bruno Stanley Norman Herbert Howard Isaac Abraham Theodore Franklin Ronald Barack Donald Elvis Julius Augustus Edmund Alfred Geoffrey Ted""",
    )
)
WOMEN = frozenset(
    re.findall(
        r"\w+",
        """Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Lisa Nancy Betty Margaret Sandra Ashley Kimberly Emily Donna Michelle Carol
    Amanda Melissa Deborah Stephanie Rebecca Sharon Laura Cynthia Dorothy Amy Kathleen Angela Shirley Emma Brenda Pamela Nicole Anna Samantha Katherine
    Kate Christine Debra Rachel Carolyn Janet Maria Catherine Heather Diane Olivia Julie Joyce Victoria Ruth Virginia Lauren Kelly Christina Joan Evelyn
    Judith Andrea Hannah Megan Cheryl Jacqueline Martha Madison Teresa Gloria Sara Janice Ann Anne Kathryn Abigail Sophia Frances Jean Alice Judy Isabella
    Julia Grace Amber Denise Danielle Marilyn Beverly Charlotte Natalie Theresa Diana Brittany Doris Kayla Alexis Lori Marie Jane Helen Rose Lucy Eleanor
    Florence Edith Clara Agnes Eva Ellen Sally Claire Hillary Taylor Lily Zoe Chloe Mia Meryl Cate Nina Ella Angelina Scarlett Natasha Whitney Audrey""",
    )
)
