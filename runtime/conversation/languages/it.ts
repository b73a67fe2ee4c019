import { type Language, wordSet } from './language.ts'

export const italian: Language = {
  code: 'it',
  name: 'Italiano',
  instruction: 'Rispondi sempre in italiano.',
  phrases: {
    sayAgain: 'Mi scusi, c’è stato un problema. Può ripetere, per favore?',
    didNotCatch: 'Mi scusi, non ho capito. Può ripetere, per favore?',
    cannotHear: 'Mi scusi, in questo momento non la sento. Un momento, per favore.',
    stillThere: 'È ancora in linea?',
    oneMoment: 'Un momento, per favore.',
    stillHere: 'Sono ancora qui, ancora un momento.',
    bye: 'Arrivederci.',
    goodbye: 'Mi dispiace, ho un problema tecnico e devo terminare la chiamata. Riprovi più tardi, per favore.',
    transferring: 'Un momento, la metto in contatto.',
    takeCall: 'Vuole accettare la chiamata? Dica sì o prema 1. Per rifiutare, dica no o prema 2.',
    transferFailed: 'Mi dispiace, non ha risposto nessuno. In che altro modo posso aiutarla?',
    takenOver: 'Ora le risponde un collega.',
    givenBack: 'Sono di nuovo con lei. Come posso aiutarla?',
  },
  openEndings: wordSet(`
    il lo la i gli le l' un uno una un' di del della dei degli delle a al allo alla ai agli alle da dal dalla in nel nella con
    su sul sulla per tra fra mio mia miei tuo tua suo sua nostro e ed o ma perché che se quando mentre come io è sono era
    molto più non mi ti si ehm uhm eh cioè`),
  backchannels: wordSet(`
    mm mmm mhm mm-hm hm hmm ah aha oh sì si ok okay va bene certo bene giusto esatto esattamente perfetto capisco capito
    d'accordo ottimo ecco già eh`),
  commonWords: wordSet(`
    il lo la gli di che e è sono un una per con non sì come quando dove quanto quale qual ho ha hanno posso vorrei grazie ciao
    buongiorno buonasera mi mia del della delle alle aperti anche più questo cosa favore l'orario costa avete sempre italiano`),
  consent: {
    yes: /\b(?:si|certo|va bene|d accordo|certamente|volentieri|ok|okay|prego|faccia pure|accetto|sicuro)\b/,
    no: /\b(?:no|non|mai|preferisco di no|rifiuto)\b/,
    yesDespiteNo:
      /\bnon c e problema\b|\bnessun problema\b|\bperche no\b|\bnon mi dispiace\b|\bnon ho (?:nulla|niente) in contrario\b/,
  },
  answering: {
    machine: [
      /lasci\w{0,30} (?:\w{1,30} ){0,3}messaggio(?! per (?:lui|lei))/,
      /dopo il (?:segnale|bip|tono)/,
      /segreteria|casella vocale/,
      /(?:cliente|utente|persona|numero) (?:\w{1,30} ){0,8}(?:non (?:e|risulta) (?:\w{1,30} ){0,3}(?:raggiungibile|disponibile)|spento|inesistente)/,
    ],
    full: [
      /(?:segreteria|casella|memoria) (?:\w{1,30} ){0,3}piena|non (?:puo|e possibile) (?:\w{1,30} ){0,3}altri messaggi/,
    ],
    hints: [
      /non (?:e|c e|sono|siamo) (?:\w{1,30} ){0,3}(?:raggiungibil[ei]|disponibil[ei]|in ufficio|in casa|qui)|non c e|non posso rispondere|e fuori/,
      /(?:ha chiamato|risponde (?:il|la)|avete chiamato)/,
      /(?:la|ti|vi) (?:richiamero|ricontattero|richiameremo)|appena possibile|il prima possibile/,
    ],
    menu: [
      /(?:prema|premere|digiti|digitare|prem[ie]) (?:\w{1,30} ){0,4}(?:\d|uno|due|tre|quattro|zero|cancelletto|asterisco|tasto)/,
      /menu principale|seguenti opzioni/,
      /(?:chiamata|telefonata|conversazione) (?:\w{1,30} ){0,5}registrata/,
      /(?:operatori|linee) (?:\w{1,30} ){0,4}occupat[ei]|(?:resti|rimanga|attenda) (?:\w{1,30} ){0,2}in linea|la preghiamo di attendere/,
    ],
    screening: [/(?:dica|dire) (?:\w{1,30} ){0,3}(?:il suo )?nome|motivo della chiamata/],
    offers: /(?:vuole|desidera|posso) (?:\w{1,30} ){0,5}(?:messaggio|riferire)/,
    asks: /chi (?:parla|chiama|e)\b|con chi parlo/,
    introduces: /\b(?:sono|mi chiamo)\b/,
    company: [/(?:come|in che cosa|in cosa) posso (?:aiutar|esser)\w{0,30}/, /sono \w{1,30} come posso/],
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
  ],
  keys: ['zero', 'uno', 'due', 'tre', 'quattro', 'cinque', 'sei', 'sette', 'otto', 'nove'],
}
