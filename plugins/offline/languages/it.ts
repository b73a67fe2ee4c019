import { groups, type Language, set } from './language.ts'

export const italian: Language = {
  code: 'it',
  stopWords: set(
    `a al alla alle ai agli che chi ci come con cosa cui da dal dalla dalle dei del della delle degli di dove e ed e era essere fa fate
    gli ha hai hanno ho i il in io la le lei li lo loro ma me mi mia mie miei mio molto ne nei nel nella no noi non nostra nostro o per
    perche piu posso puo qual quale quali quando quanta quante quanti quanto quella quello questa questo qui se si sia sono sta su sua
    sul sulla suo tra tu tua tuo un una uno vi voi vorrei vostra vostro avete e ciao buongiorno favore c parli parlami racconti nostra vostra ora ore fino
    siete partire portare venire fare possono`,
  ),
  endings: [
    'azioni',
    'azione',
    'amente',
    'ando',
    'endo',
    'iamo',
    'ete',
    'ate',
    'ite',
    'ati',
    'ata',
    'ato',
    'are',
    'ere',
    'ire',
    'ono',
    'ano',
    'i',
    'a',
    'o',
    'e',
  ],
  irregular: { aperto: 'apr', aperti: 'apr', aperta: 'apr', chiuso: 'chiud', chiusi: 'chiud' },
  synonyms: groups(
    'aprite aperto orari orario ora chiudete chiuso quando',
    'dove indirizzo via trova situato',
    'prezzo costa costo gratuito gratis euro pagare quanto',
    'cane cani animale animali',
    'consegna consegne consegniamo consegnate',
    'telefono numero chiamare contatto',
    'prenotare prenotazione appuntamento',
    'parcheggiare parcheggio auto',
  ),
  greeting: /^(ciao|buongiorno|buonasera|salve|pronto)$/,
  thanks: /^(molte |mille )?grazie( mille| tante)?( per .*)?$/,
  farewell: /^(grazie )?(arrivederci|a presto|ciao ciao|buona (giornata|serata))$/,
  howAreYou: /^(ciao |buongiorno )?come (sta|stai|va)$/,
  whoAreYou: /\b(chi (sei|e lei)|come (ti chiami|si chiama)|con chi parlo)\b/,
  repeat: /\b(ripeta|ripetere|ripeti|come ha detto|puo ripetere)\b/,
  instruction:
    /^(sei|lei e|lavori|lavora|rispondi|risponde|il tuo (compito|ruolo|nome|obiettivo)|la tua (funzione)|sempre|mai|non (dire|inventare)|rispondi|risponda|parla|parli|sii|saluta|saluti|aiuta|aiuti|usa|usi|se ti|se (il|la|l) (cliente|chiamante|utente))\b/,
  identity: { match: /^(?:sei|lei è|ti chiami)\s+/i, says: 'Sono ' },
  say: {
    greeting: 'Buongiorno! Come posso aiutarla?',
    thanks: 'Prego.',
    farewell: 'Arrivederci, buona giornata.',
    howAreYou: 'Bene, grazie. Come posso aiutarla?',
    whoAreYou: "Sono l'assistente IA di questa linea.",
    unknown: 'Mi dispiace, questo non lo so.',
    nothingToRepeat: 'Non ho ancora detto nulla.',
    prompt: 'Che cosa desidera sapere?',
  },
}
