import { type Language, overWords, phraseList, wordSet } from './language.ts'

export const italian: Language = {
  code: 'it',
  name: 'Italiano',
  writing: 'spaced',
  orders: {
    language: 'Rispondi sempre in italiano e dai del lei, salvo diversa indicazione.',
    sayAi: 'Se ti chiedono se sei una persona, di’ che sei un’intelligenza artificiale.',
  },
  phrases: {
    sayAgain: 'Mi scusi, c’è stato un problema. Può ripetere, per favore?',
    didNotCatch: 'Mi scusi, non ho capito. Può ripetere, per favore?',
    cannotHear: 'Mi scusi, non la sento. Resti in linea, per favore.',
    stillThere: 'È ancora in linea?',
    oneMoment: 'Un momento, per favore.',
    stillHere: 'Ci sono, ancora un attimo di pazienza.',
    bye: 'Arrivederci.',
    goodbye: 'Mi dispiace, ho un problema tecnico e devo terminare la chiamata. Riprovi più tardi, per favore.',
    transferring: 'Resti in linea, la metto in comunicazione.',
    takeCall: 'Vuole rispondere alla chiamata? Dica sì o prema 1. Per rifiutare, dica no o prema 2.',
    transferFailed: 'Mi dispiace, non risponde nessuno. Posso aiutarla in altro modo?',
    almostOver: 'Il tempo sta per scadere: la chiamata terminerà tra pochi secondi.',
    cannotSay: 'Mi dispiace, su questo non posso dire nulla.',
    disclosure: 'Sta parlando con un assistente basato sull’intelligenza artificiale.',
    recordingNotice:
      'La informiamo che la telefonata viene registrata. Se non desidera la registrazione, me lo dica pure.',
    recordingConsent: 'Posso registrare questa telefonata? Dica sì o no, oppure prema 1 per sì, 2 per no.',
    voicemail:
      'Buongiorno, sono un assistente basato sull’intelligenza artificiale. Volevamo parlarle e riproveremo più tardi. Arrivederci.',
    abandoned:
      'Buongiorno, questa è una chiamata automatica di {{workspace}}. Volevamo parlarle, ma al momento nessuno è libero. Per contattarci o per non ricevere altre chiamate, chiami il numero {{from_number}}. Arrivederci.',
  },
  informal: {
    order: 'Rispondi sempre in italiano e dai del tu.',
    phrases: {
      sayAgain: 'Scusa, c’è stato un problema. Puoi ripetere, per favore?',
      didNotCatch: 'Scusa, non ho capito. Puoi ripetere, per favore?',
      cannotHear: 'Scusa, non ti sento. Resta in linea, per favore.',
      stillThere: 'Sei ancora in linea?',
      bye: 'Ciao, a presto.',
      goodbye: 'Mi dispiace, ho un problema tecnico e devo terminare la chiamata. Riprova più tardi, per favore.',
      transferring: 'Resta in linea, ti metto in comunicazione.',
      takeCall: 'Vuoi rispondere alla chiamata? Di’ sì o premi 1. Per rifiutare, di’ no o premi 2.',
      transferFailed: 'Mi dispiace, non risponde nessuno. Posso aiutarti in altro modo?',
      disclosure: 'Stai parlando con un assistente basato sull’intelligenza artificiale.',
    },
  },
  regions: {},
  openEndings: wordSet(`
    nome_è cognome_è numero_è indirizzo_è
    il lo la i gli le l' un' di del della dei degli delle a al allo alla ai agli alle da dal dalla nel nella con sul sulla per tra
    fra miei nostro e ed o ma che se mentre mi ti ehm uhm dello dall' dell' nell' all' sull' ogni vorrei allora dunque insomma
    oppure quindi cioè`),
  looseEndings: wordSet(`
    un uno una in su mio mia tuo tua suo sua perché quando come io è sono era molto più non si questo questa ho anche senza loro
    vostro siamo`),
  holdOns: phraseList(
    'vediamo, aspetti, aspetta, un attimo, un momento, un secondo, mi faccia pensare, mi lasci pensare, fammi pensare, come dire, no aspetti',
  ),
  asksOpenly:
    /^(?:\S+ )?(?:che|cosa|quale|quali|qual|come|com|quando|dove|chi|perche|quanto|quanta|quanti|quante)\b|\b(?:dirmi|dica|descrivere|spiegare)\b/u,
  dictation: {
    digits: wordSet('zero uno due tre quattro cinque sei sette otto nove doppio'),
    asksNumber: /\b(?:numero|codice|pin|cifre|cap|iban)\b/u,
    asksPhone: /\b(?:telefono|cellulare)\b/u,
    phoneDigits: 10,
    asksSpelling: /\b(?:scrive|scriverlo|lettera per lettera|spelling|sillabare)\b/u,
  },
  backchannels: phraseList(`
    mm, mmm, mh, mhm, mm-hm, hm, hmm, uhm, ah, aha, oh, sì, si, ok, okay, va bene, certo, bene, giusto, esatto, esattamente, perfetto,
    capisco, capito, d'accordo, ottimo, ecco, già, ho capito, va benissimo, infatti, appunto, chiaro, certamente, come no`),
  commonWords: wordSet(`
    il lo la gli di che e è sono un una per con non sì come quando dove quanto quale qual ho ha hanno posso vorrei grazie ciao
    buongiorno buonasera mi mia del della delle alle aperti anche più questo cosa favore l'orario costa avete sempre italiano salve
    sera scusi chiamo`),
  consent: {
    yes: phraseList(`
      sì, va bene, d'accordo, certamente, volentieri, ok, okay, faccia pure, accetto, perfetto, va benissimo, sicuramente, senz'altro,
      acconsento, esatto, come no, non c'è problema, nessun problema, non ci sono problemi, non mi dà fastidio, non mi disturba,
      non ho nulla in contrario, non ho niente in contrario, niente in contrario, nulla in contrario, non ho obiezioni,
      nessuna obiezione, certo che sì, sì certo, ma certo, ma sì, registri pure, può registrare, può farlo, assolutamente sì,
      per me va bene, mi va bene, do il mio consenso, sono d'accordo, fai pure, naturalmente, ovviamente, tranquillamente, autorizzo`),
    alone: phraseList(
      'si, certo, certo certo, sicuro, prego, prego prego, bene, si certo, si va bene, si grazie, giusto, prego faccia',
    ),
    rhetorical: phraseList('perché no, e perché no, ma perché no, sì perché no, certo perché no'),
    beside: phraseList(`
      grazie, per favore, per cortesia, signore, signora, certo, pure, prego, registri, può, la telefonata, la chiamata, questa chiamata,
      questa telefonata, per me, faccia, mi va bene, che sì`),
    lead: phraseList('eh, ehm, ah, oh, beh, be, allora, mah, uhm, hm, mm, bene, ecco'),
    no: phraseList(
      'no, mai, preferisco di no, preferirei di no, per niente, direi di no, assolutamente no, meglio di no, rifiuto, non',
    ),
    refuses: overWords([
      /\bprefer\w+ (?:di )?(?:no|non)\b|\bdirei di no\b|\bmeglio (?:di )?no\b|\bper niente\b|\bassolutamente no\b|\bcerto che no\b|\brifiuto\b|\bmi oppongo\b/,
      /\bnon (?:voglio|vorrei|desidero|accetto|acconsento|autorizzo|registri|registrare|mi va|sono d accordo|do il)\b|\bsenza registra\w+\b/,
      /\bno grazie\b|\bsì no\b|\bno\b/,
    ]),
    unclear: overWords([
      /^(?:come|cosa|prego come|scusi|mi scusi|come scusi|scusi come|come prego|eh scusi|che cosa|come dice|pardon)$/,
      /\bnon (?:ho )?(?:\w+ )?(?:capito|sentito|capisco|sento|la sento|ti sento|si sente)\b|\bla sento (?:male|poco)\b/,
      /\b(?:può|potrebbe|puoi) ripetere\b|\bche (?:cosa )?ha detto\b|\bcome ha detto\b|\bripeta\b/,
    ]),
    one: phraseList("uno, l'uno, il numero uno, numero uno, 1, tasto uno"),
    two: phraseList('due, il due, il numero due, numero due, 2, tasto due'),
    abroad: {
      yes: phraseList("sì, sì grazie, d'accordo, va bene, sì va bene"),
      no: phraseList('no grazie, direi di no'),
    },
  },
  answering: {
    tone: /(?:dopo|al termine del|sentito) (?:il |un )?(?:segnale|bip|tono)/,
    machine: [
      /(?<!(?:gli|le|che) )lasci\w{0,30} (?:\w{1,30} ){0,3}messaggio(?! per (?:lui|lei))/,
      /(?<!abbiamo (?:una |la )?|ho (?:una |la )?)segreteria telefonica|segreteria (?:telefonica )?di (?:tim|vodafone|wind|telecom)|casella vocale|registrare (?:il |un )?(?:suo )?messaggio|registri (?:il )?(?:suo )?messaggio/,
      /(?:cliente|utente|persona|numero) (?:\w{1,30} ){0,8}(?:non (?:e|risulta) (?:\w{1,30} ){0,3}(?:raggiungibile|disponibile|attivo)|spento|inesistente)/,
      /uffici sono (?:\w{1,30} ){0,2}chiusi|fuori (?:orario|dall orario)|al di fuori (?:dell|del nostro) orario/,
    ],
    full: [
      /(?:segreteria|casella|memoria) (?:\w{1,30} ){0,3}piena|non (?:puo|e possibile) (?:\w{1,30} ){0,3}altri messaggi/,
    ],
    hints: [
      /non (?:e|c e|sono|siamo) (?:\w{1,30} ){0,3}(?:raggiungibil[ei]|disponibil[ei]|in ufficio|in casa|qui)|non c e|non (?:posso|possiamo) rispondere|e fuori/,
      /(?:ha chiamato|risponde (?:il|la)|avete chiamato)/,
      /(?:la|ti|vi) (?:richiamero|ricontattero|richiameremo|ricontatteremo)|appena possibile|il prima possibile/,
      /(?:studio|ufficio|negozio|ambulatorio) (?:\w{1,30} ){0,3}chius[oa]/,
      /\blasci\w{1,5} (?:\w{1,30} ){0,2}nome/,
      /(?:i nostri|gli) orari (?:di apertura )?sono|il nostro orario e/,
    ],
    speaksOfOthers:
      /\b(?:il signor|la signora|il dottor|la dottoressa|lui|lei) (?:\w{1,30} )?(?:non )?(?:c )?e\b|^(?:\w{1,30} ){0,3}non c e\b|\be (?:fuori|assente|in riunione|in ferie)\b/,
    menu: [
      /(?:prema|premere|digiti|digitare|prem[ie]) (?:\w{1,30} ){0,4}(?:\d|uno|due|tre|quattro|zero|cancelletto|asterisco|tasto)/,
      /menu principale|seguenti opzioni/,
      /(?:chiamata|telefonata|conversazione) (?:\w{1,30} ){0,5}registrata/,
      /(?:operatori|linee) (?:\w{1,30} ){0,4}occupat[ei]|la preghiamo di attendere/,
    ],
    screening: [
      /(?:dica|dire|dimmi|indichi|registri|registra|lasci) (?:\w{1,30} ){0,3}(?:il (?:suo|tuo) )nome|il (?:suo|tuo) nome e il motivo/,
      /motivo della (?:sua |tua )?chiamata|perche (?:sta )?chiama(?:ndo)?/,
      /chi devo annunciare|filtro (?:delle )?chiamate|non (?:essere|sei|e) un robot/,
    ],
    offers:
      /(?<!(?:se|non) (?:\w{1,30} ){0,3})(?:(?:vuole|desidera|posso|vuoi) (?:\w{1,30} ){0,5}(?:messaggio|riferire)|(?:gli|le) (?:lascio|riferisco|prendo) (?:\w{1,30} ){0,3}messaggio)/,
    asks: /chi (?:parla|chiama|e)\b|con chi parlo/,
    introduces: /\b(?:sono|mi chiamo)\b/,
    company: [/(?:come|in che cosa|in cosa) posso (?:aiutar|esser)\w{0,30}/, /sono \w{1,30} come posso/],
  },
  doNotCall: [
    /\bnon (?:mi|ci) (?:chiam\w{1,4}|telefon\w{1,4}|richiam\w{1,4}|contatt\w{1,4}) (?:piu|mai piu|ancora|di nuovo)\b|\bsmett\w{2,5} di (?:chiamar|telefonar)\w{1,3}\b|\bnon voglio (?:piu )?(?:essere chiamat\w|(?:altre )?chiamate)\b/,
    /\b(?:mi|ci) (?:cancelli|cancellate|tolga|togliete|rimuova|rimuovete) (?:da|dal|dalla|dall|dai|dalle|subito)\b|\b(?:cancelli|tolga|rimuova) (?:\w{1,30} ){0,2}(?:mio numero|lista|elenco)\b|\bregistro (?:delle|pubblico delle) opposizioni\b/,
  ],
  saysAi: /\b(?:ia|ai|intelligenza artificiale|assistente virtuale|operatore virtuale|robot|chiamata automatica)\b/,
  reading: {
    marks: {
      at: 'chiocciola',
      dot: 'punto',
      slash: 'barra',
      dash: 'trattino',
      underscore: 'trattino basso',
      plus: 'più',
    },
    dollars: { one: 'dollaro', other: 'dollari' },
    pounds: { one: 'sterlina', other: 'sterline' },
    money: '{whole} e {hundredths}',
    clock: { full: '', minutes: '' },
    inFull: {
      'Sig.': 'signor',
      'Sig.ra': 'signora',
      'Sig.na': 'signorina',
      'Dott.': 'dottor',
      'Dott.ssa': 'dottoressa',
      'Avv.': 'avvocato',
      'Ing.': 'ingegner',
      'p. es.': 'per esempio',
      'tel.': 'telefono',
    },
  },
  abbreviations: [
    'Sig',
    'Sig.ra',
    'Sigg',
    'Dott',
    'Dott.ssa',
    'Dr',
    'Prof',
    'Avv',
    'Ing',
    'ecc',
    'p. es',
    'tel',
    'ca',
    'n',
    'Geom',
    'Rag',
    'art',
    'pag',
    'Sig.na',
    'min',
  ],
  dottedOrdinals: false,
}
