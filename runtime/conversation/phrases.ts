/** What the agent says by itself when a provider fails or is slow, by language. */
interface Phrases {
  /** No answer could be made; the caller may try again. */
  sayAgain: string
  /** An answer is late. */
  oneMoment: string
  /** It is later still. */
  stillHere: string
  /** The agent hangs up without having said so. */
  bye: string
  /** The call can't go on. */
  goodbye: string
}

const ENGLISH: Phrases = {
  sayAgain: "Sorry, I'm having a little trouble. Could you say that again?",
  oneMoment: 'One moment, please.',
  stillHere: 'I am still on it, one more moment.',
  bye: 'Goodbye.',
  goodbye: "I'm sorry, I'm having technical trouble and have to end the call. Please try again later.",
}

const PHRASES: Readonly<Record<string, Phrases>> = {
  en: ENGLISH,
  de: {
    sayAgain: 'Entschuldigung, da ist etwas schiefgegangen. Können Sie das bitte wiederholen?',
    oneMoment: 'Einen Moment, bitte.',
    stillHere: 'Ich bin noch dran, einen Augenblick noch.',
    bye: 'Auf Wiederhören.',
    goodbye: 'Es tut mir leid, ich habe ein technisches Problem und muss das Gespräch beenden.',
  },
  es: {
    sayAgain: 'Perdone, ha habido un problema. ¿Puede repetirlo, por favor?',
    oneMoment: 'Un momento, por favor.',
    stillHere: 'Sigo con ello, un momento más.',
    bye: 'Adiós.',
    goodbye: 'Lo siento, tengo un problema técnico y debo terminar la llamada.',
  },
  fr: {
    sayAgain: 'Pardon, un problème est survenu. Pouvez-vous répéter, s’il vous plaît ?',
    oneMoment: 'Un instant, s’il vous plaît.',
    stillHere: 'Je suis toujours là, encore un instant.',
    bye: 'Au revoir.',
    goodbye: 'Je suis désolé, un problème technique m’oblige à terminer l’appel.',
  },
  it: {
    sayAgain: 'Mi scusi, c’è stato un problema. Può ripetere, per favore?',
    oneMoment: 'Un momento, per favore.',
    stillHere: 'Sono ancora qui, ancora un momento.',
    bye: 'Arrivederci.',
    goodbye: 'Mi dispiace, ho un problema tecnico e devo terminare la chiamata.',
  },
  pt: {
    sayAgain: 'Desculpe, houve um problema. Pode repetir, por favor?',
    oneMoment: 'Um momento, por favor.',
    stillHere: 'Ainda estou aqui, só mais um momento.',
    bye: 'Até logo.',
    goodbye: 'Lamento, tenho um problema técnico e preciso encerrar a chamada.',
  },
}

/** @param language BCP 47; unknown ones get English */
export function phrasesFor(language: string | undefined): Phrases {
  return PHRASES[language?.slice(0, 2).toLowerCase() ?? 'en'] ?? ENGLISH
}
