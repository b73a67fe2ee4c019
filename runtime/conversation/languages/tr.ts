import { type Language, overWords, phraseList, wordSet } from './language.ts'

export const turkish: Language = {
  code: 'tr',
  name: 'Türkçe',
  writing: 'spaced',
  orders: {
    language: 'Her zaman Türkçe yanıt ver ve yukarıda başka bir şey yazmıyorsa arayana “siz” diye hitap et.',
    sayAi: 'İnsan olup olmadığın sorulursa yapay zekâ olduğunu söyle.',
  },
  phrases: {
    sayAgain: 'Özür dilerim, bir sorun oluştu. Tekrar söyler misiniz?',
    didNotCatch: 'Özür dilerim, anlayamadım. Tekrar söyler misiniz?',
    cannotHear: 'Özür dilerim, şu anda sizi duyamıyorum. Lütfen hatta kalın.',
    stillThere: 'Hâlâ hatta mısınız?',
    oneMoment: 'Bir saniye lütfen.',
    stillHere: 'Birazdan hazır olacak, bir an daha lütfen.',
    bye: 'İyi günler, hoşça kalın.',
    goodbye: 'Üzgünüm, teknik bir sorun yaşıyorum ve görüşmeyi bitirmem gerekiyor. Lütfen daha sonra tekrar arayın.',
    transferring: 'Bir saniye, sizi bağlıyorum.',
    takeCall:
      'Görüşmeyi almak ister misiniz? Evet deyin veya 1’e basın. Almak istemiyorsanız hayır deyin veya 2’ye basın.',
    transferFailed: 'Üzgünüm, kimseye ulaşamadım. Size başka bir şekilde yardımcı olabilir miyim?',
    almostOver: 'Süremiz dolmak üzere: görüşme birkaç saniye içinde sona erecek.',
    cannotSay: 'Üzgünüm, bu konuda bir şey söyleyemem.',
    disclosure: 'Bir yapay zekâ asistanıyla görüşüyorsunuz.',
    recordingNotice: 'Bu görüşme hizmet kalitesi için kaydedilmektedir. İstemiyorsanız lütfen şimdi söyleyin.',
    recordingConsent:
      'Bu görüşmeyi kaydedebilir miyim? Lütfen evet ya da hayır deyin; evet için 1’e, hayır için 2’ye basın.',
    voicemail:
      'Merhaba, ben bir yapay zekâ asistanıyım. Size ulaşmak istemiştik, daha sonra tekrar arayacağız. İyi günler.',
    abandoned:
      'Merhaba, bu {{workspace}} tarafından yapılan otomatik bir aramadır. Sizinle görüşmek istedik ama şu anda müsait kimse yok. Bize ulaşmak veya bir daha aranmamak için lütfen {{from_number}} numarasını arayın. İyi günler.',
  },
  informal: {
    order: 'Her zaman Türkçe yanıt ver ve arayana “sen” diye hitap et.',
    phrases: {
      sayAgain: 'Özür dilerim, bir sorun oluştu. Tekrar söyler misin?',
      didNotCatch: 'Özür dilerim, anlayamadım. Tekrar söyler misin?',
      cannotHear: 'Özür dilerim, şu anda seni duyamıyorum. Lütfen hatta kal.',
      stillThere: 'Hâlâ hatta mısın?',
      bye: 'İyi günler, hoşça kal.',
      goodbye: 'Üzgünüm, teknik bir sorun yaşıyorum ve görüşmeyi bitirmem gerekiyor. Lütfen daha sonra tekrar ara.',
      transferring: 'Bir saniye, seni bağlıyorum.',
      takeCall: 'Görüşmeyi almak ister misin? Evet de veya 1’e bas. Almak istemiyorsan hayır de veya 2’ye bas.',
      transferFailed: 'Üzgünüm, kimseye ulaşamadım. Sana başka bir şekilde yardımcı olabilir miyim?',
      disclosure: 'Bir yapay zekâ asistanıyla görüşüyorsun.',
    },
  },
  regions: {},
  openEndings: wordSet(`
    ve veya ya ama fakat çünkü eğer ile için gibi kadar ki ıı ııı eee hani yani benim onun bizim sizin hem ayrıca`),
  looseEndings: wordSet(`bir bu şu o ben de da sonra önce daha çok en şey mesela acaba`),
  holdOns: phraseList('bir dakika, bir saniye, dur, durun, bekleyin, bakayım, bir bakayım, düşüneyim, nasıl desem'),
  asksOpenly:
    /\b(?:ne|neyi|nasil|nerede|nereye|nereden|kim|kimin|hangi|neden|nicin|kac)\b|\b(?:soyler|anlatir|aciklar)\b/u,
  dictation: {
    digits: wordSet('sıfır bir iki üç dört beş altı yedi sekiz dokuz çift'),
    asksNumber: /numara|\b(?:kod|kodu|kodunuz|pin|sifre|iban)/u,
    asksPhone: /telefon|\bcep/u,
    phoneDigits: 10,
    asksSpelling: /\bheceler|\bkodlar|\bharf|\byazilir|\byaziliyor/u,
  },
  backchannels: phraseList(`
    mm, mmm, mhm, hm, hmm, hı hı, hıhı, hı, ah, aha, oh, evet, tamam, peki, olur, anladım, tabii, tabi, elbette, doğru, aynen, güzel, iyi,
    okey, ok, tamamdır, haklısınız, öyle, kesinlikle, süper, harika`),
  commonWords: wordSet(`
    bir ve bu için ne var mı mi mu mü evet hayır merhaba günaydın teşekkürler lütfen nasıl nerede zaman saat kaç istiyorum
    ben siz değil çok iyi günler randevu almak açık kaçta her zaman türkçe yanıt`),
  consent: {
    yes: phraseList(`
      evet, tamam, olur, tabii, tabii ki, tabi, tabi ki, elbette, peki, kabul, kabul ediyorum, onaylıyorum, sorun değil, sorun yok,
      benim için sorun değil, benim için sorun yok, sakıncası yok, bir sakıncası yok, hiçbir sakıncası yok, kaydedebilirsiniz,
      kaydedebilirsin, memnuniyetle, buyurun kaydedin, olabilir, uygundur, uygun, izin veriyorum, rıza gösteriyorum, hay hay, aynen,
      fark etmez, problem değil, problem yok, itirazım yok, bir itirazım yok, okey, ok, tamamdır, rahatsız olmam`),
    alone: phraseList('doğru, kesinlikle, evet buyurun, olsun, kaydedin'),
    rhetorical: phraseList('neden olmasın, niye olmasın, evet neden olmasın, tabii neden olmasın'),
    beside: phraseList(
      'lütfen, teşekkürler, teşekkür ederim, sağ olun, efendim, kaydedin, kaydedebilirsiniz, benim için, tabii, görüşmeyi, ediyorum',
    ),
    lead: phraseList('ıı, iı, iıı, ııı, eee, şey, hı, hm, ya, ah, yani, e'),
    no: phraseList('hayır, yok, olmaz, istemiyorum, istemem, asla, hayır teşekkürler, kesinlikle hayır, gerek yok, yo'),
    refuses: overWords([
      /(?:^| )(?:hayır|olmaz|istemiyorum|istemem|istemezdim|kaydetmeyin|kaydedemezsiniz|reddediyorum|asla)(?: |$)/,
      /(?:^| )kabul etmiyorum(?: |$)|(?:^| )izin vermiyorum(?: |$)|(?:^| )onaylamıyorum(?: |$)|(?:^| )kayıt(?: \S+)? (?:istemiyorum|olmasın|yapmayın)(?: |$)|(?:^| )tercih etmem(?: |$)/,
    ]),
    unclear: overWords([
      /^(?:efendim|ne|nasıl|pardon|anlamadım|ne dediniz|buyurun|alo|özür dilerim|ha|efendim anlamadım)$/,
      /(?:^| )(?:anlamadım|anlayamadım|duymadım|duyamadım|duyamıyorum|anlamıyorum)(?: |$)|(?:^| )ses(?:iniz)? (?:gelmiyor|kesiliyor)(?: |$)/,
      /(?:^| )(?:tekrar|bir daha) (?:eder|söyler|eder|alabilir)(?: |$)|(?:^| )tekrarlar mısınız(?: |$)|(?:^| )ne dediniz(?: |$)/,
    ]),
    one: phraseList('bir, bir numara, 1'),
    two: phraseList('iki, iki numara, 2'),
    abroad: {
      yes: phraseList('evet, evet lütfen, tabii ki, elbette'),
      no: phraseList('hayır, hayır teşekkürler, istemiyorum'),
    },
  },
  answering: {
    tone: /(?:sinyal|bip|ton) (?:sesinden|sesini|sesi duyduktan|duyduktan)/,
    machine: [
      /mesaj\w{0,6} (?:\w{1,30} ){0,2}(?:birak\w{0,10}|kaydedin)|(?<!bizde )(?:telesekreter|sesli mesaj|sesli posta)/,
      /aradiginiz (?:kisi\w{0,3}|numara\w{0,3}|abone\w{0,3}) (?:\w{1,30} ){0,6}(?:ulasilamiyor|kullanilmamaktadir|kapali\w{0,5}|cevap vermiyor|mesgul)/,
      /su (?:an|anda) (?:\w{1,30} ){0,3}(?:ulasilamiyor|cevap veremiyor\w{0,3}|telefona bakamiyor\w{0,3})|mesai saatleri (?:disinda|disindayiz)/,
    ],
    full: [/(?:mesaj|posta) kutusu (?:\w{1,30} ){0,3}dolu/],
    hints: [
      /(?:burada|yerimde|ofiste|evde|musait) degil\w{0,3}/,
      /(?:aradiniz|ulastiniz)$|(?:aradiniz|ulastiniz) /,
      /(?:geri|tekrar|sizi) (?:donecegim|donecegiz|arayacagim|arayacagiz)|en kisa (?:surede|zamanda)/,
      /(?:ofisimiz|magazamiz|klinigimiz|isyerimiz) (?:\w{1,30} ){0,3}kapali\w{0,4}/,
      /(?:calisma|mesai) saatlerimiz/,
    ],
    speaksOfOthers:
      /\b(?:kendisi|(?:\w{1,30} )(?:bey|hanim)) (?:\w{1,30} ){0,3}(?:degil|yok|disarida|cikti|toplantida)\b/,
    menu: [
      /(?:\d|bir|iki|uc|dort|sifir|kare|yildiz)\w{0,3} (?:y?[aei] )?(?:tusuna )?bas\w{0,5}|tuslayin\w{0,3}/,
      /ana menu|asagidaki secenekler/,
      /gorusme\w{0,5} (?:\w{1,30} ){0,5}(?:kaydedilmektedir|kayit altina|kaydediliyor)/,
      /(?:temsilci\w{0,8}|hatlarimiz|operatorlerimiz) (?:\w{1,30} ){0,4}(?:mesgul\w{0,5}|dolu)|lutfen hatta kalin|siradasiniz/,
    ],
    screening: [
      /(?:adinizi|isminizi|adini) (?:\w{1,30} ){0,4}(?:soyleyin|belirtin|kaydedin|soyler)/,
      /(?:arama|aramanizin) (?:\w{1,30} )?(?:nedeni\w{0,6}|sebebi\w{0,6})|neden aradiginizi/,
      /kim ariyor diyeyim|kimin aradigini/,
    ],
    offers: /(?:not|mesaj) (?:\w{1,30} ){0,2}(?:alayim|alabilir|iletebilir|ileteyim|birakmak ister)/,
    asks: /kim(?:siniz| ariyor|inle gorusuyorum)|kiminle gorusuyorum|siz kimsiniz/,
    introduces: /\b(?:ben|burasi|adim) \w{1,30}/,
    company: [/nasil yardimci olabilir|ne icin aramistiniz|buyurun nasil/, /ben \w{1,30} (?:buyurun|nasil)/],
  },
  doNotCall: [
    /\b(?:bir daha|artik|tekrar|beni|bizi) (?:\w{1,30} ){0,2}arama(?:yin|yiniz)?\b|\baranmak istemiyorum\b|\baramayi birakin\b/,
    /\b(?:numarami|beni|adimi) (?:\w{1,30} ){0,3}(?:silin|cikarin|kaldirin)\b/,
  ],
  saysAi: /\b(?:yapay zeka|yz|ai|sanal asistan|dijital asistan|robot|(?:chat|sesli )bot|otomatik (?:bir )?arama)\b/,
  reading: {
    marks: { at: 'et', dot: 'nokta', slash: 'eğik çizgi', dash: 'tire', underscore: 'alt çizgi', plus: 'artı' },
    dollars: { other: 'dolar' },
    pounds: { other: 'sterlin' },
    money: '{whole} {hundredths}',
    clock: { full: '', minutes: '' },
    inFull: {
      'örn.': 'örneğin',
      'vb.': 've benzeri',
      'Sn.': 'Sayın',
      'Tel.': 'telefon',
      'Cad.': 'Caddesi',
      'Sok.': 'Sokağı',
      'Mah.': 'Mahallesi',
      'bkz.': 'bakınız',
    },
  },
  abbreviations: [
    'Dr',
    'Prof',
    'Av',
    'vb',
    'vs',
    'örn',
    'Sn',
    'Tel',
    'No',
    'Cad',
    'Sok',
    'Mah',
    'Doç',
    'bkz',
    'Ltd',
    'Şti',
  ],
  dottedOrdinals: true,
}
