import { type Language, overWords, phraseList, wordSet } from './language.ts'

export const polish: Language = {
  code: 'pl',
  name: 'Polski',
  writing: 'spaced',
  orders: {
    language:
      'Odpowiadaj zawsze po polsku i zwracaj się do rozmówcy na „pan” lub „pani”, o ile powyżej nie podano inaczej.',
    sayAi: 'Zapytany, czy jesteś człowiekiem, powiedz, że jesteś sztuczną inteligencją.',
  },
  phrases: {
    sayAgain: 'Przepraszam, coś poszło nie tak. Czy można to powtórzyć?',
    didNotCatch: 'Przepraszam, to było niewyraźne. Czy można powtórzyć?',
    cannotHear: 'Przepraszam, w tej chwili nic nie słychać. Proszę się nie rozłączać.',
    stillThere: 'Czy słychać mnie jeszcze?',
    oneMoment: 'Chwileczkę, proszę.',
    stillHere: 'Już prawie gotowe, jeszcze chwila.',
    bye: 'Do usłyszenia.',
    goodbye: 'Przepraszam, mam problem techniczny i muszę zakończyć rozmowę. Proszę spróbować później.',
    transferring: 'Chwileczkę, już łączę.',
    takeCall:
      'Czy odebrać tę rozmowę? Proszę powiedzieć „tak” lub nacisnąć 1. Aby odmówić, proszę powiedzieć „nie” lub nacisnąć 2.',
    transferFailed: 'Niestety nikt nie odbiera. Czy mogę pomóc w inny sposób?',
    almostOver: 'Nasz czas dobiega końca: rozmowa zakończy się za kilka sekund.',
    cannotSay: 'Przepraszam, nic nie mogę o tym powiedzieć.',
    disclosure: 'Rozmawia z Państwem asystent oparty na sztucznej inteligencji.',
    recordingNotice:
      'Rozmowa jest nagrywana w celu poprawy jakości obsługi. W razie sprzeciwu proszę powiedzieć to teraz.',
    recordingConsent:
      'Czy mogę nagrać tę rozmowę? Proszę powiedzieć „tak” lub „nie” albo nacisnąć 1, jeśli tak, 2, jeśli nie.',
    voicemail:
      'Dzień dobry, mówi asystent oparty na sztucznej inteligencji. Spróbujemy zadzwonić później. Do usłyszenia.',
    abandoned:
      'Dzień dobry, to automatyczne połączenie od {{workspace}}. Chcieliśmy porozmawiać, ale w tej chwili nikt nie jest dostępny. Aby się z nami skontaktować lub zrezygnować z telefonów, proszę zadzwonić pod numer {{from_number}}. Do usłyszenia.',
  },
  informal: {
    order: 'Odpowiadaj zawsze po polsku i zwracaj się do rozmówcy na „ty”.',
    phrases: {
      sayAgain: 'Przepraszam, coś poszło nie tak. Możesz powtórzyć?',
      didNotCatch: 'Przepraszam, to było niewyraźne. Możesz powtórzyć?',
      cannotHear: 'Przepraszam, w tej chwili cię nie słyszę. Nie rozłączaj się, proszę.',
      stillThere: 'Jesteś tam jeszcze?',
      bye: 'Cześć, do usłyszenia.',
      goodbye: 'Przepraszam, mam problem techniczny i muszę zakończyć rozmowę. Spróbuj później.',
      takeCall: 'Chcesz odebrać tę rozmowę? Powiedz „tak” lub naciśnij 1. Aby odmówić, powiedz „nie” lub naciśnij 2.',
      transferFailed: 'Niestety nikt nie odbiera. Mogę ci pomóc w inny sposób?',
      disclosure: 'Rozmawiasz z asystentem opartym na sztucznej inteligencji.',
    },
  },
  regions: {},
  openEndings: wordSet(`
    nazwisko_to numer_to imię_to i oraz a że żeby bo ponieważ w we z ze do na od dla przez przy nad pod za po o u bez jeśli jeżeli chociaż
    yyy eee hmm czyli albo lub między każdy który która które przed`),
  looseEndings: wordSet(`
    ale czy jak kiedy co to jest są był mam chcę chciałbym chciałabym mogę bardzo się ja my pan pani tylko już mój moja nasz nasza nasze
    wasz wasza`),
  holdOns: phraseList(`
    chwileczkę, chwila, moment, momencik, zaraz, proszę poczekać, niech pomyślę, niech się zastanowię, zobaczmy, jak to powiedzieć,
    niech zobaczę, niech sprawdzę, niech spojrzę, jak to się nazywało, jak to się mówi, jak by to powiedzieć, moment proszę,
    chwileczkę proszę, chwilkę, chwilka, sekunda, sekundka, sekundę, sekundkę, jedną chwilę, jedną chwileczkę, proszę chwilę poczekać,
    proszę chwilę zaczekać, proszę zaczekać, proszę o chwilę, muszę sprawdzić, muszę pomyśleć, muszę zobaczyć, już sprawdzam, już patrzę,
    już szukam, szukam właśnie, właśnie szukam, zaraz sprawdzę, zaraz zobaczę, czekaj, poczekaj, zaraz zaraz, moment muszę sprawdzić,
    niech tylko pomyślę, wezmę kalendarz, proszę mi dać sekundę, proszę dać mi sekundę, proszę dać mi chwilę`),
  asksOpenly:
    /^(?:\S+ )?(?:co|czego|czym|jak|jaki|jaka|jakie|kiedy|gdzie|dokad|kto|ktory|ktora|ktore|dlaczego|ile)\b|\b(?:powiedziec|opisac|wyjasnic|podac)\b/u,
  dictation: {
    digits: wordSet('zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć'),
    asksNumber: /\b(?:numer|kod|pin|pesel|cyfry|iban)\b/u,
    asksPhone: /\b(?:telefonu|telefon|komorkowy|komorki)\b/u,
    phoneDigits: 9,
    asksSpelling: /\b(?:przeliterowac|przeliteruje|pisze|literuje)\b/u,
  },
  backchannels: phraseList(`
    mm, mmm, mhm, mm-hm, hm, hmm, aha, ach, oh, tak, no, no tak, dobrze, dobra, okej, ok, okay, jasne, racja, zgadza się, dokładnie,
    rozumiem, pewnie, oczywiście, świetnie, super, właśnie, no właśnie, fajnie, tak tak, w porządku, idealnie, bardzo dobrze, no dobrze,
    no dobra, wspaniale, o, no jasne, no pewnie, a okej, ach tak, ależ oczywiście, pełna zgoda`),
  commonWords: wordSet(`
    jest się nie tak czy jak co gdzie kiedy ile proszę dziękuję dzień dobry chciałbym chciałabym mam mogę dla jestem pan pani godziny
    godzinie jutro miejsce cześć halo po polsku zawsze wizytę umówić otwarte i w na z do o że to`),
  consent: {
    yes: phraseList(`
      tak, no tak, tak tak, dobrze, dobra, okej, ok, okay, jasne, oczywiście, pewnie, zgoda, zgadzam się, wyrażam zgodę, proszę bardzo,
      nie ma problemu, żaden problem, nie ma sprawy, nie mam nic przeciwko, nie mam nic przeciwko temu, nie przeszkadza mi to,
      nie przeszkadza mi, może być, niech będzie, można, można nagrywać, może pan nagrywać, może pani nagrywać, proszę nagrywać,
      jak najbardziej, naturalnie, bez problemu, w porządku, akceptuję, z przyjemnością, chętnie, oczywiście że tak, pewnie że tak,
      no pewnie, no jasne, nie mam zastrzeżeń, nie mam żadnych zastrzeżeń, bez zastrzeżeń, nie mam obiekcji, zdecydowanie tak,
      zdecydowanie, dla mnie może być, jak dla mnie może być, jak dla mnie w porządku, pasuje mi, odpowiada mi to,
      nie przeszkadza mi to wcale, ależ oczywiście, ależ proszę`),
    alone: phraseList(
      'proszę, tak proszę, no dobrze, no dobra, no jasne, no pewnie, racja, tak zgadza się, zgadza się, no okej',
    ),
    rhetorical: phraseList('czemu nie, dlaczego nie, a czemu nie, tak czemu nie, czemu by nie'),
    beside: phraseList(
      'proszę, dziękuję, panie, pani, na nagrywanie, na nagranie, na to, dziękuję bardzo, rozmowę, nagrywać, nagrać, mi, temu',
    ),
    lead: phraseList('yyy, eee, no, hm, hmm, ach, a, oj, mm, to, więc, aha'),
    no: phraseList(
      'nie, nie dziękuję, raczej nie, wolę nie, wolałbym nie, wolałabym nie, nigdy, absolutnie nie, odmawiam, skądże, nie nie, jeszcze nie',
    ),
    refuses: overWords([
      /(?:^| )nie nagrywa\S*(?: |$)|(?:^| )(?:na pewno|w żadnym wypadku|w żadnym razie) ?(?:nie)?(?: |$)|(?:^| )nie ma mowy(?: |$)|(?:^| )nie odpowiada mi(?: |$)|(?:^| )nie chcę (?:być )?(?:nagrywan\S*)?(?: |$)/,
      /(?:^| )(?:raczej|wol\S+|absolutnie|zdecydowanie|lepiej) nie(?: |$)|(?:^| )nie (?:zgadzam|wyrażam|chcę|życzę|nagrywa\S+|pozwalam|zgodzę|akceptuję)(?: |$)/,
      /(?:^| )(?:odmawiam|sprzeciwiam|bez nagrywania|bez nagrania)(?: |$)|(?:^| )oczywiście że nie(?: |$)|(?:^| )tak nie(?: |$)/,
    ]),
    unclear: overWords([
      /(?:^| )co (?:pan|pani) (?:właśnie |teraz )?(?:powiedział|powiedziała|mówił|mówiła)(?: |$)|(?:^| )powtórzyć pytanie(?: |$)|(?:^| )umknęło(?: |$)|(?:^| )(?:linia|połączenie) jest (?:\S+ )?(?:zł[ae]|słab[ae])(?: |$)|(?:^| )co (?:pan|pani) ma na myśli(?: |$)/,
      /(?:^| )jakie (?:było|jest) pytanie(?: |$)|(?:^| )przerywa(?: |$)|(?:^| )mówić (?:głośniej|wyraźniej)(?: |$)|(?:^| )głośniej(?: |$)|^(?:jak to|że co)$|(?:^| )nie (?:\S+ )?(?:słyszał\S*|zrozumiał\S*)(?: |$)|(?:^| )nie rozumiem(?: |$)/,
      /(?:^| )(?:ledwo|słabo|źle|kiepsko) (?:pana |panią |cię |to )?(?:słyszę|słychać)(?: |$)|(?:^| )bardzo źle(?: |$)|(?:^| )co (?:pan|pani) (?:mówił|mówiła|powiedział|powiedziała|mówi)(?: |$)|(?:^| )proszę powtórzyć(?: |$)/,
      /^(?:słucham|co|proszę|jak|przepraszam|halo|że co|co proszę|jak proszę|co takiego|słucham pana|słucham panią)$/,
      /(?:^| )nie (?:\S+ )?(?:zrozumiał\S+|usłyszał\S+|rozumiem|słyszę|słychać|dosłyszał\S+)(?: |$)|(?:^| )słabo (?:słychać|słyszę)/,
      /(?:^| )(?:powtórzyć|powtórz|jeszcze raz)(?: |$)|co (?:pan|pani) (?:mówi|powiedział\S*)/,
    ]),
    one: phraseList('jeden, jedynka, numer jeden, 1'),
    two: phraseList('dwa, dwójka, numer dwa, 2'),
    abroad: {
      yes: phraseList('tak tak, tak proszę, zgadzam się, oczywiście'),
      no: phraseList('nie, nie dziękuję, nie nie'),
    },
  },
  answering: {
    tone: /po (?:sygnale|tonie|uslyszeniu sygnalu|dzwieku)/,
    proceeds: /\b(?:aby|zeby|by) (?:kontynuowac|przejsc dalej)\b/,
    machine: [
      /\b(?:zamkniet\w|nieczynn\w) do \w{1,30}\b|\bgodziny pracy (?:\w{1,30} ){0,3}skonczyly\b|\bpoza godzinami\b|\bzamknieci otwieramy\b/,
      /\bnasz[ae]? (?:\w{1,30} ){1,3}(?:jest|sa) (?:\w{1,30} ){0,3}(?:nieczynn\w|zamkniet\w)\b|\bpracujemy od (?:\w{1,30} )?do\b|\bpracujemy od \w{1,30} do\b/,
      /\bbiuro nieczynne\b|\bjest (?:teraz |obecnie |w tej chwili )?nieczynn\w\b|\bprzerw\w urlopow\w\b|\bsklep jest (?:teraz |obecnie )?zamkniety\b/,
      /\bpoza godzinami (?:pracy|otwarcia|urzedowania)\b|\bw godzinach (?:pracy|otwarcia|urzedowania)\b|\bjest czynn\w od\b|\bw naglych wypadkach\b/,
      /\bwiesz co (?:masz )?(?:robic|zrobic)\b|\bpo sygnale\b|\b(?:zostaw\w{0,5}|pozostaw\w{0,5}) (?:\w{1,30} ){0,4}(?:imie|numer|nazwisko|dane)\b|\bnie mozemy (?:\w{1,30} ){0,3}odebrac\b|\bpoczt[ae] glosow\w\b/,
      /(?:zostaw\w{0,5}|pozostaw\w{0,5}|nagraj\w{0,4}|nagrac) (?:\w{1,30} ){0,4}wiadomosc\w{0,2}|(?<!nie mamy )poczt[aeyo]\w? glosow\w{1,3}|(?<!nie mamy )automatyczna sekretarka/,
      /(?:abonent|numer|osoba)(?: \w{1,30}){0,8} (?:niedostepn\w|poza zasiegiem|nie odpowiada|nie istnieje|wylaczony|nieaktywny|jest zajety)|nie ma takiego numeru/,
      /nie moge (?:teraz |w tej chwili )?odebrac|poza godzinami (?:pracy|otwarcia)/,
    ],
    full: [/(?:skrzynka|poczta) (?:\w{1,30} ){0,3}(?:pelna|przepelniona)/],
    hints: [
      /nie ma mnie|jestem (?:nieobecn\w|niedostepn\w)|nie jestem dostepn\w|nie mozemy odebrac|nie ma nas/,
      /(?:dodzwonil\w{0,6} sie|dodzwoniles sie|tu numer|polaczono z)/,
      /oddzwoni\w{0,4}|jak najszybciej|tak szybko jak/,
      /(?:biuro|sklep|gabinet|przychodnia) (?:\w{1,30} ){0,3}(?:zamkniet\w|nieczynn\w)|\bjestesmy (?:\w{1,30} ){0,3}zamknieci\b|\bpo godzinach\b|\bprzerw\w obiadow\w\b|\bbiuro jest (?:\w{1,30} ){0,3}(?:nieczynne|zamkniete)\b/,
      /(?:godziny (?:pracy|otwarcia))|pracujemy od|\b(?:otwieramy|wracamy|zapraszamy) (?:\w{1,30} ){0,3}(?:o|w|od|jutro)\b|\bw godzinach\b|\bpowodu swieta\b|\bpracujemy od\b/,
    ],
    speaksOfOthers:
      /\b(?:on|ona|kolega|kolezanka|szef|szefowa) (?:jest|nie|ma|wyszedl|wyszla|bedzie)\b|\b(?:pana|pani) \w{1,30} nie ma\b|\bnie ma (?:go|jej|pana|pani)\b/,
    menu: [
      /\b(?:wybierz|nacisnij|wcisnij) (?:\w{1,30} ){0,2}(?:piec|szesc|siedem|osiem|dziewiec)\b|\bprzygotowac numer\b|\bkonsultanci (?:\w{1,30} ){0,2}(?:innych )?klientow\b|\bnastepny w kolejce\b/,
      /\bczas oczekiwania\b|\bkonsultant zglosi\b|\brozmowy sa (?:nagrywane|rejestrowane)\b|\bnacisnij (?:krzyzyk|gwiazdke)\b/,
      /\bznasz (?:\w{1,30} )?numer wewnetrzny\b|\bnumer wewnetrzny (?:\w{1,30} ){0,2}wybierz\b|\bpolaczenie jest dla nas wazne\b|\b(?:zglosi|polaczy) sie (?:\w{1,30} )?konsultant\b|\bwkrotce zglosi\b|\bnastepujacych opcji\b|\bjestes \w{1,30} w kolejce\b/,
      /(?:nacisnij|wybierz|prosze wybrac|wcisnij|nacisnac) (?:\w{1,30} ){0,3}(?:\d|jeden|dwa|trzy|cztery|zero|krzyzyk|gwiazdke)/,
      /menu glowne|nastepujacych opcji/,
      /rozmow[ay] (?:\w{1,30} ){0,3}(?:nagrywan\w|rejestrowan\w)/,
      /(?:konsultanci|linie|operatorzy) (?:\w{1,30} ){0,4}(?:zajeci|zajete)|oczekiwanie na polaczenie|prosze czekac na|w kolejce/,
    ],
    screening: [
      /\bpodaniu imienia\b/,
      /\b(?:powiedz|powiedziec|prosze powiedziec) (?:\w{1,30} ){0,3}(?:kim|kto dzwoni|dlaczego)\b|\bprosze sie przedstawic\b|\bkto dzwoni i\b|\basystent\w{0,2} polaczen\b|\bfiltr\w{0,2} polaczen\b|\bpolaczenie jest (?:sprawdzane|filtrowane|weryfikowane)\b/,
      /\b(?:powod|cel|przyczyne) (?:\w{1,30} )?(?:rozmowy|polaczenia|telefonu)\b|\bwirtualny\w? asystent\w{0,2} tego\b|\bzanim polacze\b/,
      /(?:podaj|podac|powiedz|przedstaw) (?:\w{1,30} ){0,3}(?:imie|nazwisko|sie)/,
      /(?:powod|cel) (?:\w{1,30} )?(?:rozmowy|polaczenia|telefonu)|w jakiej sprawie dzwoni/,
      /kogo mam (?:zapowiedziec|zaanonsowac)/,
    ],
    offers: /(?:czy|moge|mam) (?:\w{1,30} ){0,4}(?:przekazac|zostawic (?:\w{1,30} )?wiadomosc)/,
    asks: /kto (?:mowi|dzwoni|tam|pyta)|z kim (?:rozmawiam|mam przyjemnosc)/,
    introduces: /\b(?:przy telefonie|z tej strony|mowi|nazywam sie)\b/,
    company: [/w czym (?:moge|mozemy) (?:\w{1,30} )?pomoc|czym moge sluzyc/, /(?:przy telefonie|mowi) \w{1,30}/],
  },
  doNotCall: [
    /\bnigdy (?:\w{1,30} ){0,4}nie dzwon\w{0,4}\b/,
    /\bnie dzwon\w{0,4} (?:\w{1,30} ){0,3}(?:wiecej|juz|nigdy)\b|\bwiecej (?:\w{1,30} ){0,2}nie (?:dzwon|kontakt)\w{1,6}\b|\bnie kontaktowac\b|\bzadnych (?:wiecej )?telefonow\b|\bnie chce (?:\w{1,30} ){0,2}(?:wiecej|juz) (?:\w{1,30} )?telefonow\b|\bnie chce wiecej\b/,
    /\bprzesta\w{1,6} (?:\w{1,30} ){0,3}(?:dzwonic|wydzwaniac)\b|\bzeby (?:\w{1,30} ){0,3}nie dzwonic\b|\bliste zastrzezonych\b|\b(?:usuniet\w|wykreslon\w) z (?:\w{1,30} )?listy\b/,
    /\b(?:usun\w{0,4}|wykresl\w{0,4}|skresl\w{0,4}) (?:\w{1,30} ){0,3}(?:moje dane|moje nazwisko|moj numer|mnie)\b/,
    /\b(?:prosze |niech pan |niech pani |niech panstwo )?(?:wiecej )?(?:nie dzwon\w{1,4}|nie dzwonic|nie dzwonia) (?:\w{1,30} ){0,2}(?:wiecej|juz|nigdy)\b|\b(?:juz|wiecej|nigdy wiecej) (?:do mnie )?nie dzwon\w{1,4}\b|\bnie zycze sobie (?:\w{1,30} ){0,3}(?:telefonow|polaczen|dzwonienia)\b|\bprzestan\w{1,4} dzwonic\b/,
    /\b(?:usun\w{0,4}|wykresl\w{0,4}|skresl\w{0,4}) (?:\w{1,30} ){0,3}(?:numer|listy|bazy)\b/,
  ],
  saysAi:
    /\b(?:ai|sztuczn\w{1,3} inteligencj\w{1,2}|wirtualny asystent|(?:chat|czat|voice)bot|robot|automatyczne polaczenie)\b/,
  reading: {
    marks: { at: 'małpa', dot: 'kropka', slash: 'ukośnik', dash: 'myślnik', underscore: 'podkreślenie', plus: 'plus' },
    dollars: { one: 'dolar', few: 'dolary', other: 'dolarów' },
    pounds: { one: 'funt', few: 'funty', other: 'funtów' },
    money: '{whole} {hundredths}',
    clock: { full: '', minutes: '' },
    inFull: {
      'np.': 'na przykład',
      'tj.': 'to jest',
      'ul.': 'ulica',
      'al.': 'aleja',
      'tel.': 'telefon',
      'godz.': 'godzina',
      'm.in.': 'między innymi',
      'ok.': 'około',
    },
  },
  abbreviations: [
    'np',
    'tj',
    'itd',
    'itp',
    'dr',
    'prof',
    'mgr',
    'inż',
    'ul',
    'al',
    'pl',
    'nr',
    'tel',
    'godz',
    'ok',
    'm.in',
    'tzw',
    'ww',
    'św',
    'zł',
    'gr',
    'r',
    'ks',
  ],
  dottedOrdinals: true,
}
