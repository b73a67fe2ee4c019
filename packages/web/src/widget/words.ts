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
  /** Before anything is said: an AI speaks. */
  disclosure: string
}

const of = (text: string): Words => {
  const [talk, hangUp, mute, unmute, type, send, microphone, speaker, allow, playback, connecting, ...more] =
    text.split('|') as [string, string, string, string, string, string, string, string, string, string, string]
  const [
    reconnecting,
    listening,
    thinking,
    speaking,
    ended,
    you,
    agent,
    denied,
    missing,
    busy,
    insecure,
    failed,
    disclosure,
  ] = more as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  return {
    ...{ talk, hangUp, mute, unmute, type, send, microphone, speaker, allow, playback, connecting, reconnecting },
    ...{ listening, thinking, speaking, ended, you, agent, denied, missing, busy, insecure, failed, disclosure },
  }
}

export const WORDS: Readonly<Record<string, Words>> = {
  en: of(
    'Talk to us|Hang up|Mute|Unmute|Type a message|Send|Microphone|Speaker|Allow the microphone|Turn the sound on|Connecting…|Reconnecting…|Listening|Thinking|Speaking|The call is over|You|AI assistant|The microphone is not allowed. Allow it for this page in the browser.|No microphone was found.|The microphone is in use by another program.|A microphone needs a page served over https.|The call could not be made.|You’ll be talking to an AI assistant.',
  ),
  de: of(
    'Mit uns sprechen|Auflegen|Mikrofon aus|Mikrofon an|Nachricht schreiben|Senden|Mikrofon|Lautsprecher|Mikrofon erlauben|Ton einschalten|Verbinde …|Verbindung wird wiederhergestellt …|Hört zu|Denkt nach|Spricht|Das Gespräch ist beendet|Sie|KI-Assistent|Der Zugriff auf das Mikrofon ist gesperrt. Erlauben Sie ihn in den Browsereinstellungen dieser Seite.|Kein Mikrofon gefunden.|Das Mikrofon wird von einem anderen Programm benutzt.|Das Mikrofon funktioniert nur auf einer https-Seite.|Das Gespräch kam nicht zustande.|Sie sprechen mit einem KI-Assistenten.',
  ),
  es: of(
    'Hable con nosotros|Colgar|Silenciar|Activar micrófono|Escriba un mensaje|Enviar|Micrófono|Altavoz|Permita el uso del micrófono|Activar el sonido|Conectando…|Reconectando…|Escuchando|Pensando|Hablando|La llamada ha terminado|Usted|Asistente de IA|El micrófono no está permitido. Permítalo para esta página en el navegador.|No se encontró ningún micrófono.|Otro programa está usando el micrófono.|El micrófono necesita una página https.|No se pudo establecer la llamada.|Hablará con un asistente de inteligencia artificial.',
  ),
  fr: of(
    'Nous parler|Raccrocher|Couper le micro|Activer le micro|Écrire un message|Envoyer|Micro|Haut-parleur|Autorisez le micro|Activer le son|Connexion…|Reconnexion…|À l’écoute|Réflexion en cours|En train de répondre|L’appel est terminé|Vous|Assistant IA|Le micro n’est pas autorisé. Autorisez-le pour cette page dans le navigateur.|Aucun micro trouvé.|Le micro est utilisé par un autre programme.|Le micro ne fonctionne que sur une page https.|L’appel n’a pas abouti.|Vous parlerez avec une intelligence artificielle.',
  ),
  it: of(
    'Parli con noi|Riaggancia|Disattiva microfono|Attiva microfono|Scriva un messaggio|Invia|Microfono|Altoparlante|Consenta l’uso del microfono|Attiva l’audio|Connessione…|Riconnessione…|In ascolto|Sta pensando|Sta parlando|La chiamata è terminata|Lei|Assistente IA|Il microfono non è consentito. Lo consenta per questa pagina nel browser.|Nessun microfono trovato.|Il microfono è già usato da un altro programma.|Il microfono richiede una pagina https.|La chiamata non è riuscita.|Parlerà con un’intelligenza artificiale.',
  ),
  pt: of(
    'Fale conosco|Desligar|Desativar microfone|Ativar microfone|Digite uma mensagem|Enviar|Microfone|Alto-falante|Permita o microfone|Ativar o som|Conectando…|Reconectando…|Ouvindo|Pensando|Falando|A chamada terminou|Você|Assistente de IA|O microfone não está permitido. Permita-o para esta página no navegador.|Nenhum microfone encontrado.|O microfone está sendo usado por outro programa.|O microfone precisa de uma página https.|Não foi possível fazer a chamada.|Você vai falar com um assistente de inteligência artificial.',
  ),
  'pt-pt': of(
    'Fale connosco|Desligar|Silenciar|Ativar microfone|Escreva uma mensagem|Enviar|Microfone|Altifalante|Permita o microfone|Ativar o som|A estabelecer ligação…|A restabelecer ligação…|A ouvir|A pensar|A falar|A chamada terminou|O utilizador|Assistente de IA|O microfone não é permitido. Permita-o para esta página no navegador.|Nenhum microfone encontrado.|O microfone está a ser usado por outro programa.|O microfone precisa de uma página https.|A chamada não foi possível.|Vai falar com um assistente de inteligência artificial.',
  ),
  nl: of(
    'Praat met ons|Ophangen|Microfoon uit|Microfoon aan|Typ een bericht|Versturen|Microfoon|Luidspreker|Sta de microfoon toe|Geluid aanzetten|Verbinden…|Opnieuw verbinden…|Luistert|Denkt na|Spreekt|Het gesprek is afgelopen|U|AI-assistent|De microfoon is niet toegestaan. Sta hem voor deze pagina toe in de browser.|Geen microfoon gevonden.|De microfoon wordt door een ander programma gebruikt.|Een microfoon werkt alleen op een https-pagina.|Het gesprek kwam niet tot stand.|U spreekt met een AI-assistent.',
  ),
  pl: of(
    'Porozmawiaj z nami|Rozłącz się|Wycisz mikrofon|Włącz mikrofon|Napisz wiadomość|Wyślij|Mikrofon|Głośnik|Zezwól na mikrofon|Włącz dźwięk|Łączenie…|Ponowne łączenie…|Słucha|Myśli|Mówi|Rozmowa zakończona|Ty|Asystent AI|Mikrofon jest zablokowany. Zezwól na niego dla tej strony w przeglądarce.|Nie znaleziono mikrofonu.|Mikrofon jest używany przez inny program.|Mikrofon działa tylko na stronie https.|Nie udało się nawiązać połączenia.|To rozmowa z asystentem opartym na sztucznej inteligencji.',
  ),
  sv: of(
    'Prata med oss|Lägg på|Mikrofon av|Mikrofon på|Skriv ett meddelande|Skicka|Mikrofon|Högtalare|Tillåt mikrofonen|Sätt på ljudet|Ansluter…|Återansluter…|Lyssnar|Tänker|Talar|Samtalet är slut|Du|AI-assistent|Mikrofonen är inte tillåten. Tillåt den för sidan i webbläsaren.|Ingen mikrofon hittades.|Mikrofonen används av ett annat program.|Mikrofonen fungerar bara på en https-sida.|Samtalet kunde inte kopplas.|Du talar med en AI-assistent.',
  ),
  tr: of(
    'Bizimle konuşun|Kapat|Mikrofonu kapat|Mikrofonu aç|Mesaj yazın|Gönder|Mikrofon|Hoparlör|Mikrofona izin verin|Sesi aç|Bağlanıyor…|Yeniden bağlanıyor…|Dinliyor|Düşünüyor|Konuşuyor|Görüşme bitti|Siz|Yapay zekâ asistanı|Mikrofona izin verilmiyor. Tarayıcıda bu sayfa için izin verin.|Mikrofon bulunamadı.|Mikrofon başka bir program tarafından kullanılıyor.|Mikrofon yalnızca https sayfalarında çalışır.|Görüşme kurulamadı.|Bir yapay zekâ asistanıyla görüşeceksiniz.',
  ),
  ja: of(
    '話しかける|電話を切る|マイクをオフ|マイクをオン|メッセージを入力|送信|マイク|スピーカー|マイクを許可してください|音声をオンにする|接続中…|再接続中…|聞いています|考えています|話しています|通話は終了しました|あなた|AIアシスタント|マイクが許可されていません。ブラウザーでこのページに許可してください。|マイクが見つかりません。|マイクはほかのプログラムが使用中です。|マイクはhttpsのページでのみ使えます。|通話できませんでした。|AIアシスタントとの会話になります。',
  ),
  hi: of(
    'हमसे बात करें|कॉल काटें|माइक बंद करें|माइक चालू करें|संदेश लिखें|भेजें|माइक|स्पीकर|माइक की अनुमति दें|आवाज़ चालू करें|जुड़ रहा है…|फिर से जुड़ रहा है…|सुन रहा है|सोच रहा है|बोल रहा है|कॉल समाप्त हो गई|आप|एआई असिस्टेंट|माइक की अनुमति नहीं है। ब्राउज़र में इस पेज के लिए अनुमति दें।|कोई माइक नहीं मिला।|माइक का उपयोग कोई दूसरा प्रोग्राम कर रहा है।|माइक के लिए https पेज चाहिए।|कॉल नहीं हो सकी।|आप एक एआई असिस्टेंट से बात करेंगे।',
  ),
}

/** The words of the first of these language tags that is known, of its region where that has its own; English otherwise. */
export function wordsFor(tags: readonly string[]): Words {
  for (const tag of tags) {
    const [base = '', ...more] = tag.toLowerCase().split('-')
    const words = WORDS[`${base}-${more.at(-1)}`] ?? WORDS[base]
    if (words !== undefined) return words
  }
  return WORDS.en!
}
