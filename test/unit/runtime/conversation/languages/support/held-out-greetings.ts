/**
 * Greetings as phone companies, offices and people word them, gathered apart from the patterns. That an office is closed is no proof
 * of a machine by itself: people say it, too. Utterances between bars.
 */
interface HeldOutGreetings {
  readonly machine: string
  readonly people: string
}

export const HELD_OUT: Readonly<Record<string, HeldOutGreetings>> = {
  en: {
    machine: `Hi, this is Karen, I'm not available right now, please leave your name and number and I'll call you back.|Your call has been forwarded to voicemail. The person you're trying to reach is not available. At the tone, please record your message.|
      Hello, you have reached the voicemail of Tom Baker. I can't take your call at the moment.|The wireless customer you are calling is not available. Please try your call again later.|We're sorry, you have reached a number that has been disconnected or is no longer in service.|
      Thank you for calling Oak Street Surgery. Our offices are now closed. Please call back during business hours.|The mobile phone you have called may be switched off. Please try later.|Hey, it's Jim, leave me a message after the beep.|
      Sorry, I missed you, leave your details after the tone and I'll get back to you as soon as possible.`,
    people: `Hello, Karen speaking.|Oak Street Surgery, good morning, how may I help you?|Yeah?|Who is this?|Hi, this is Tom.|Sorry, he just stepped out, can I take a message?|Good afternoon, reception, Ann speaking.|
      I can barely hear you, hello?|Baker's, what can I get you?|He's on another call right now, would you mind holding?`,
  },
  de: {
    machine: `Hallo, hier ist die Mailbox von Karin Weber. Bitte hinterlassen Sie eine Nachricht nach dem Signalton.|Der gewünschte Gesprächspartner ist zurzeit nicht erreichbar.|Guten Tag, Sie haben die Praxis Doktor Lang erreicht. Unsere Praxis ist zurzeit geschlossen.|
      Hallo, ich bin gerade nicht zu Hause, sprecht mir bitte nach dem Piep aufs Band.|Die von Ihnen gewählte Rufnummer ist nicht vergeben.|Ihr Anruf wird an die Mailbox weitergeleitet.|Sie rufen außerhalb unserer Geschäftszeiten an.|
      Ich kann Ihren Anruf gerade nicht entgegennehmen, hinterlassen Sie bitte Name und Nummer, ich rufe zurück.`,
    people: `Weber?|Praxis Doktor Lang, guten Tag, was kann ich für Sie tun?|Hallo, wer ist denn da?|Meier am Apparat.|Firma Schulz, mein Name ist Anna Beck, wie kann ich Ihnen helfen?|Er ist gerade in einer Besprechung, kann ich etwas ausrichten?|
      Moment, ich hole ihn.|Ja, hallo?|Die Frau Weber ist heute nicht im Haus, soll ich ihr etwas ausrichten?|Grüß Gott, Bäckerei Huber.`,
  },
  es: {
    machine: `Hola, soy Carmen, ahora mismo no puedo atenderte, deja tu mensaje después de la señal.|El número que usted ha marcado no existe.|Le atiende el contestador automático de la familia Ruiz.|El teléfono al que llama está apagado o fuera de cobertura en este momento.|
      Ha llamado a la clínica Sol. Nuestro horario de atención es de nueve a dos. En este momento estamos cerrados.|El buzón de voz del número marcado está disponible, grabe su mensaje.|Deje su nombre y número y le devolveré la llamada.`,
    people: `¿Diga?|Clínica Sol, buenos días, ¿en qué puedo ayudarle?|Sí, ¿quién es?|Dígame.|¿Bueno?|No está en este momento, ¿quiere dejarle un recado?|Un momento, que le paso.|Hola, habla Carmen.|Está reunido, ¿quién le llama?|Restaurante El Faro, buenas tardes.`,
  },
  fr: {
    machine: `Bonjour, vous êtes bien sur le répondeur de Claire, laissez-moi un message après le bip.|Votre correspondant n'est pas joignable pour le moment.|Le numéro que vous avez demandé n'est pas attribué.|Bonjour, vous êtes sur la messagerie vocale de Paul Martin.|
      Le cabinet est actuellement fermé, nos horaires d'ouverture sont du lundi au vendredi.|Je ne suis pas disponible, merci de me laisser vos coordonnées, je vous rappelle dès que possible.|Veuillez laisser votre message après le signal sonore.`,
    people: `Allô ?|Cabinet du docteur Petit, bonjour, que puis-je faire pour vous ?|Oui, c'est de la part de qui ?|Bonjour, Claire à l'appareil.|Il est en réunion, vous voulez que je lui transmette un message ?|Un instant, je vous le passe.|Qui est-ce ?|
      Elle n'est pas là aujourd'hui, je peux prendre un message ?|Boulangerie Moreau, bonjour.`,
  },
  it: {
    machine: `Salve, in questo momento non posso rispondere, lasciate un messaggio dopo il segnale acustico.|Il cliente da lei chiamato non è al momento raggiungibile.|Risponde la segreteria telefonica del numero selezionato.|Il numero da lei selezionato è inesistente.|
      I nostri uffici sono chiusi, richiami dal lunedì al venerdì.|Questa è la segreteria di Marco, lasciate nome e numero e vi richiamerò appena possibile.|Il telefono della persona chiamata potrebbe essere spento.`,
    people: `Pronto?|Studio Bianchi, buongiorno, come posso aiutarla?|Sì, chi parla?|Sono Marco, dimmi.|È in riunione, vuole lasciare un messaggio?|Un attimo che glielo passo.|Non c'è, torna più tardi.|Segreteria della scuola Manzoni, buongiorno.|Pizzeria da Gino, dica.`,
  },
  pt: {
    machine: `Olá, você ligou para a Ana, no momento não posso atender, deixe seu recado após o sinal.|O número chamado está desligado ou fora da área de cobertura.|Sua chamada está sendo encaminhada para a caixa postal.|Este número não existe.|
      O cliente para quem ligou não está disponível, deixe mensagem após o sinal.|Estamos fechados neste momento, o nosso horário é das nove às dezoito.|Deixe o seu nome e contacto, ligarei assim que possível.`,
    people: `Alô?|Clínica Vida, bom dia, em que posso ajudar?|Está lá?|Quem fala?|Ele não está, quer deixar recado?|Um momento, vou passar.|Oi, aqui é a Ana.|Ela está em reunião, quem gostaria?|Padaria Lisboa, boa tarde.`,
  },
  nl: {
    machine: `Dit is de voicemail van Jan de Vries, spreek een bericht in na de piep.|Het nummer dat u heeft gekozen is niet in gebruik.|De persoon die u belt is op dit moment niet bereikbaar.|Ons kantoor is gesloten, wij zijn bereikbaar van maandag tot en met vrijdag.|Ik kan nu niet opnemen, laat je naam en nummer achter, dan bel ik je terug.`,
    people: `Met Jan.|Praktijk de Linde, goedemorgen, waarmee kan ik u helpen?|Ja, met wie spreek ik?|Hallo?|Hij is in bespreking, kan ik een boodschap doorgeven?|Momentje, ik verbind u door.|Bakkerij Smit, goedemiddag.`,
  },
  pl: {
    machine: `Dzień dobry, tu poczta głosowa Anny Nowak, proszę zostawić wiadomość po sygnale.|Abonent jest czasowo niedostępny, prosimy zadzwonić później.|Wybrany numer nie istnieje.|Nie mogę teraz odebrać, zostaw wiadomość, oddzwonię.`,
    people: `Halo?|Tak, słucham?|Przychodnia Zdrowie, dzień dobry, w czym mogę pomóc?|Kto mówi?|Nie ma go teraz, czy coś przekazać?|Chwileczkę, już łączę.|Anna Nowak, słucham.`,
  },
  sv: {
    machine: `Hej, du har kommit till Eriks röstbrevlåda, lämna ett meddelande efter tonen.|Abonnenten kan inte nås för tillfället.|Numret du har ringt är inte i bruk.|Jag kan inte svara just nu, lämna namn och nummer så ringer jag upp.`,
    people: `Hallå?|Erik.|Vårdcentralen Linden, god morgon, vad kan jag hjälpa till med?|Vem är det?|Han sitter i möte, kan jag hälsa något?|Ett ögonblick, jag kopplar dig.|Ja, det är Erik.`,
  },
  tr: {
    machine: `Aradığınız kişiye şu anda ulaşılamıyor, lütfen daha sonra tekrar deneyiniz.|Sinyal sesinden sonra mesajınızı bırakabilirsiniz.|Aradığınız numara kullanılmamaktadır.|Şu anda telefona cevap veremiyorum, lütfen mesaj bırakın.`,
    people: `Alo?|Efendim?|Güneş Kliniği, günaydın, nasıl yardımcı olabilirim?|Kimsiniz?|Kendisi toplantıda, not almamı ister misiniz?|Bir dakika, bağlıyorum.|Buyurun.`,
  },
  ja: {
    machine: `ただいま電話に出ることができません。ピーという発信音の後にお名前とご用件をお話しください。|おかけになった電話は電波の届かない場所にあるか電源が入っていないためかかりません。|おかけになった電話番号は現在使われておりません。|留守番電話サービスに接続します。|本日の営業は終了いたしました。`,
    people: `もしもし。|はい、田中です。|さくらクリニックでございます。|どちら様ですか？|ただいま席を外しております。ご伝言を承りましょうか。|少々お待ちください。|お電話ありがとうございます、青山商事でございます。`,
  },
  hi: {
    machine: `आप जिस नंबर पर कॉल कर रहे हैं वह अभी बंद है।|कृपया बीप के बाद अपना संदेश छोड़ें।|जिस नंबर पर आप संपर्क करना चाहते हैं वह अभी उपलब्ध नहीं है।|आपने जो नंबर डायल किया है वह मौजूद नहीं है।`,
    people: `हैलो?|जी, कौन बोल रहा है?|नमस्ते, सूर्या क्लिनिक, मैं आपकी क्या मदद कर सकता हूँ?|हाँ जी, बोलिए।|वो अभी मीटिंग में हैं, कोई संदेश दूँ?|एक मिनट रुकिए।|मैं राहुल बोल रहा हूँ।`,
  },
}
