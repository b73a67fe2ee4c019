import { loadMoreWords } from './load.ts'

const KEYS = [
  'talk',
  'hangUp',
  'mute',
  'unmute',
  'type',
  'send',
  'microphone',
  'speaker',
  'allow',
  'playback',
  'connecting',
  'reconnecting',
  'listening',
  'thinking',
  'speaking',
  'ended',
  'you',
  'agent',
  'denied',
  'missing',
  'busy',
  'insecure',
  'failed',
  // Before anything is said: an AI speaks.
  'disclosure',
  'close',
  // As many calls as there may be.
  'later',
] as const

/** What the widget says itself, by language. */
export type Words = Readonly<Record<(typeof KEYS)[number], string>>

const of = (text: string): Words =>
  Object.fromEntries(text.split('|').map((words, i) => [KEYS[i], words])) as Record<(typeof KEYS)[number], string>

const WORDS: Readonly<Record<string, Words>> = {
  en: of(
    'Talk to us|Hang up|Mute|Unmute|Type a message|Send|Microphone|Speaker|Allow the microphone|Turn the sound on|Connecting…|Reconnecting…|Listening|Thinking|Speaking|The call is over|You|AI assistant|The microphone is not allowed. Allow it for this page in the browser.|No microphone was found.|The microphone is in use by another program.|A microphone needs a page served over https.|The call could not be made.|You’ll be talking to an AI assistant.|Close|We have many calls right now. Please try again in a few minutes.',
  ),
  de: of(
    'Mit uns sprechen|Auflegen|Mikrofon aus|Mikrofon an|Nachricht schreiben|Senden|Mikrofon|Lautsprecher|Mikrofon erlauben|Ton einschalten|Verbinde …|Verbindung wird wiederhergestellt …|Hört zu|Denkt nach|Spricht|Das Gespräch ist beendet|Sie|KI-Assistent|Der Zugriff auf das Mikrofon ist gesperrt. Erlauben Sie ihn in den Browsereinstellungen dieser Seite.|Kein Mikrofon gefunden.|Das Mikrofon wird von einem anderen Programm benutzt.|Das Mikrofon funktioniert nur auf einer https-Seite.|Das Gespräch kam nicht zustande.|Sie sprechen mit einem KI-Assistenten.|Schließen|Gerade sprechen viele mit uns. Bitte versuchen Sie es in ein paar Minuten noch einmal.',
  ),
  es: of(
    'Hable con nosotros|Colgar|Silenciar|Activar micrófono|Escriba un mensaje|Enviar|Micrófono|Altavoz|Permita el uso del micrófono|Activar el sonido|Conectando…|Reconectando…|Escuchando|Pensando|Hablando|La llamada ha terminado|Usted|Asistente de IA|El micrófono no está permitido. Permítalo para esta página en el navegador.|No se encontró ningún micrófono.|Otro programa está usando el micrófono.|El micrófono necesita una página https.|No se pudo establecer la llamada.|Hablará con un asistente de inteligencia artificial.|Cerrar|Hay muchas llamadas en este momento. Inténtelo de nuevo en unos minutos.',
  ),
  fr: of(
    'Nous parler|Raccrocher|Couper le micro|Activer le micro|Écrire un message|Envoyer|Micro|Haut-parleur|Autorisez le micro|Activer le son|Connexion…|Reconnexion…|À l’écoute|Réflexion en cours|En train de répondre|L’appel est terminé|Vous|Assistant IA|Le micro n’est pas autorisé. Autorisez-le pour cette page dans le navigateur.|Aucun micro trouvé.|Le micro est utilisé par un autre programme.|Le micro ne fonctionne que sur une page https.|L’appel n’a pas abouti.|Vous parlerez avec une intelligence artificielle.|Fermer|Nous recevons beaucoup d’appels en ce moment. Réessayez dans quelques minutes.',
  ),
  it: of(
    'Parli con noi|Riaggancia|Disattiva microfono|Attiva microfono|Scriva un messaggio|Invia|Microfono|Altoparlante|Consenta l’uso del microfono|Attiva l’audio|Connessione…|Riconnessione…|In ascolto|Sta pensando|Sta parlando|La chiamata è terminata|Lei|Assistente IA|Il microfono non è consentito. Lo consenta per questa pagina nel browser.|Nessun microfono trovato.|Il microfono è già usato da un altro programma.|Il microfono richiede una pagina https.|La chiamata non è riuscita.|Parlerà con un’intelligenza artificiale.|Chiudi|Ci sono molte chiamate in questo momento. Riprovi tra qualche minuto.',
  ),
  pt: of(
    'Fale conosco|Desligar|Desativar microfone|Ativar microfone|Digite uma mensagem|Enviar|Microfone|Alto-falante|Permita o microfone|Ativar o som|Conectando…|Reconectando…|Ouvindo|Pensando|Falando|A chamada terminou|Você|Assistente de IA|O microfone não está permitido. Permita-o para esta página no navegador.|Nenhum microfone encontrado.|O microfone está sendo usado por outro programa.|O microfone precisa de uma página https.|Não foi possível fazer a chamada.|Você vai falar com um assistente de inteligência artificial.|Fechar|Há muitas chamadas neste momento. Tente de novo em alguns minutos.',
  ),
}

/** What `more-words.ts` has: by language, or by language and region. */
const MORE = ['pt-pt', 'nl', 'pl', 'sv', 'tr', 'ja', 'hi']

/** English, until others are there. */
export const ENGLISH: Words = WORDS.en!

/** The words of the first of these language tags that is known, of its region where that has its own; English otherwise. */
export async function wordsFor(tags: readonly string[], server: string): Promise<Words> {
  for (const tag of tags) {
    const [base = '', ...more] = tag.toLowerCase().split('-')
    const named = [`${base}-${more.at(-1)}`, base].find((name) => MORE.includes(name))
    const words = named && (await loadMoreWords(server).catch(() => undefined))?.[named]
    if (words) return of(words)
    const known = WORDS[base]
    if (known !== undefined) return known
  }
  return ENGLISH
}
