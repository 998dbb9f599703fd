"""Function words that carry no topic: left out of lexemes and of a query's coverage."""

_RUSSIAN = """
а без бы был была были было быть в вам вас ваш весь во вот все всего всех вы где да даже для до его ее ей если
есть еще же за зачем и из или им их к как какая какие какими каким какова каков какого какое какой какую ко
когда который кто куда ли либо мне мной можно мой моя моё мое мои мы на над надо нам нас наш не него нее ней нет
ни них но ну нужно о об он она они оно от очень перед по под почему при про с сам себя со сколько так такая
такие такое такой там тебя тем то того тоже только том ты у уже хочу чего чей чем что чтобы чуть эта эти это
этого этот я является значит скажите подскажите пожалуйста показывает показывают показать покажет означает
означают означать говорит
"""

_ENGLISH = """
a about all also am an and any are as at be because been but by can could did do does for from get had has have
how i if in into is it its just like may me mean means mine more most much my need no not of on one only or our
please she should so some tell than that the their them then there they this those to up us was we were what
when where which who why will with would you your s t m re show shows showing shown meaning
"""

STOPWORDS = frozenset((_RUSSIAN + _ENGLISH).split())
