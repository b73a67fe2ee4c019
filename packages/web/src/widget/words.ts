/** What the widget says itself, by language. */
export interface Words {
  talk: string
  hangUp: string
  mute: string
  unmute: string
  type: string
  send: string
  microphone: string
  speaker: string
  allow: string
  playback: string
  connecting: string
  reconnecting: string
  listening: string
  thinking: string
  speaking: string
  ended: string
  you: string
  agent: string
  denied: string
  missing: string
  busy: string
  insecure: string
  failed: string
}

const of = (text: string): Words => {
  const [talk, hangUp, mute, unmute, type, send, microphone, speaker, allow, playback, connecting, ...more] =
    text.split('|') as [string, string, string, string, string, string, string, string, string, string, string]
  const [reconnecting, listening, thinking, speaking, ended, you, agent, denied, missing, busy, insecure, failed] =
    more as unknown as [string, string, string, string, string, string, string, string, string, string, string, string]
  return {
    ...{ talk, hangUp, mute, unmute, type, send, microphone, speaker, allow, playback, connecting, reconnecting },
    ...{ listening, thinking, speaking, ended, you, agent, denied, missing, busy, insecure, failed },
  }
}

export const WORDS: Readonly<Record<string, Words>> = {
  en: of(
    'Talk to us|Hang up|Mute|Unmute|Type a message|Send|Microphone|Speaker|Allow the microphone|Turn the sound on|Connecting …|Reconnecting …|Listening|Thinking|Speaking|The call is over|You|Agent|The microphone is not allowed. Allow it for this page in the browser.|No microphone was found.|The microphone is in use by another program.|A microphone needs a page served over https.|The call could not be made.',
  ),
  de: of(
    'Mit uns sprechen|Auflegen|Stumm|Ton an|Nachricht schreiben|Senden|Mikrofon|Lautsprecher|Mikrofon erlauben|Ton einschalten|Verbinde …|Verbinde neu …|Hört zu|Denkt nach|Spricht|Das Gespräch ist beendet|Sie|Agent|Das Mikrofon ist nicht erlaubt. Erlauben Sie es dieser Seite im Browser.|Kein Mikrofon gefunden.|Das Mikrofon wird von einem anderen Programm benutzt.|Ein Mikrofon braucht eine Seite über https.|Das Gespräch kam nicht zustande.',
  ),
  es: of(
    'Hable con nosotros|Colgar|Silenciar|Activar micrófono|Escriba un mensaje|Enviar|Micrófono|Altavoz|Permita el micrófono|Activar el sonido|Conectando …|Reconectando …|Escuchando|Pensando|Hablando|La llamada ha terminado|Usted|Agente|El micrófono no está permitido. Permítalo para esta página en el navegador.|No se encontró ningún micrófono.|Otro programa está usando el micrófono.|El micrófono necesita una página https.|No se pudo hacer la llamada.',
  ),
  fr: of(
    'Parlez-nous|Raccrocher|Couper le micro|Activer le micro|Écrire un message|Envoyer|Micro|Haut-parleur|Autorisez le micro|Activer le son|Connexion …|Reconnexion …|Écoute|Réfléchit|Parle|L’appel est terminé|Vous|Agent|Le micro n’est pas autorisé. Autorisez-le pour cette page dans le navigateur.|Aucun micro trouvé.|Le micro est utilisé par un autre programme.|Le micro exige une page https.|L’appel n’a pas abouti.',
  ),
  it: of(
    'Parla con noi|Riaggancia|Disattiva microfono|Attiva microfono|Scrivi un messaggio|Invia|Microfono|Altoparlante|Consenti il microfono|Attiva l’audio|Connessione …|Riconnessione …|In ascolto|Pensa|Parla|La chiamata è terminata|Tu|Agente|Il microfono non è consentito. Consentilo per questa pagina nel browser.|Nessun microfono trovato.|Il microfono è in uso da un altro programma.|Il microfono richiede una pagina https.|La chiamata non è riuscita.',
  ),
  pt: of(
    'Fale connosco|Desligar|Silenciar|Ativar microfone|Escreva uma mensagem|Enviar|Microfone|Altifalante|Permita o microfone|Ativar o som|A ligar …|A religar …|A ouvir|A pensar|A falar|A chamada terminou|Você|Agente|O microfone não é permitido. Permita-o para esta página no navegador.|Nenhum microfone encontrado.|O microfone está a ser usado por outro programa.|O microfone precisa de uma página https.|A chamada não foi possível.',
  ),
}

/** The words of the first of these language tags that is known; English otherwise. */
export function wordsFor(tags: readonly string[]): Words {
  for (const tag of tags) {
    const words = WORDS[tag.toLowerCase().split('-')[0] ?? '']
    if (words !== undefined) return words
  }
  return WORDS.en!
}
