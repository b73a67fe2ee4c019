/** What is heard when a call is picked up, by language; utterances between bars. */
export interface AnsweringUtterances {
  /** Voicemail, announcements, offices that are closed. */
  readonly machine: string
  /** People and receptionists, who never are a machine. */
  readonly people: string
  /** Assistants that ask who is calling. */
  readonly screening: string
  readonly menu: string
  /** Wishes not to be called again, and what is none. */
  readonly doNotCall: string
  readonly noWish: string
}

export const ANSWERING: Readonly<Record<string, AnsweringUtterances>> = {
  en: {
    machine: `Could you please leave your name and number after the beep?|Your call cannot be completed as dialed.|The number you have dialed is not in service.|The number you have dialled has been disconnected.|
      The subscriber you have dialled is not available.|The phone is switched off.|Hi, I can't get to the phone right now.|Sorry I missed your call.|Please leave a message after the tone.|
      You've reached the voicemail box of Ada.|The person you are calling is not accepting calls at this time, the number is not accepting calls.|You have reached Miller Dental, our office is currently closed.|
      At the tone, please record your message.|Your call has been forwarded to an automated voice message system.|I'm unable to take your call, so leave me a message.|You are calling outside our business hours.|
      Leave a message for Bob and he'll get back to you, after the beep.|
      To record a message, press 1 now.|Press 1 to record your message.|Your party is not available. To leave a message, press one.`,
    people: `He's not in right now, please call back later.|She's out of the office, I'll have her call you back.|Can I take a message?|Shall I give him a message?|Would you like to leave a message?|Hello?|Bob speaking.|
      Harbour Dental, how can I help you?|Hold on, I'll get him.|Can you hold on a second?|We don't have an answering machine.|He is away from his desk, who's calling?|Miller residence.|Yes, who is this?|One moment please.|
      I'm at work, call me back in an hour.|Sorry, wrong number.|She isn't here, may I give her a message?|Ask him yourself, he's right here.|Hi there, what's up?|
      Hello, I'm on hold with the bank, can you call back?|Hi, this is Anna's assistant, how can I help you?|I'm a person, not a robot.`,
    screening: `Please say your name and the reason for calling.|Hi, if you record your name and reason for calling, I'll see if this person is available.|The person you're calling is using a screening service from Google.|
      Before I try to connect you, can you tell me why you are calling?|Please state your name after the sound.|Can I ask the reason for your call?|Who shall I say is calling, and please tell me your name?|
      The person you are calling is using an AI assistant to answer calls. How can I help you?|This is Bixby text call. The person you called will read what you say.|The number you have called is protected by a call blocker. If you are not a telemarketer, press any key.|To prove that you are human, please press 5.|If you are a person, press 3 now to be connected.|One moment, I'm checking whether they can take your call.`,
    menu: `For sales, press 1.|Please listen carefully to the following options.|Your call may be recorded.|All our agents are busy.|Your call is important to us.|Please stay on the line.`,
    doNotCall: `Stop calling me.|Stop calling.|Please stop calling.|Don't call me again.|Do not call here anymore.|Take me off your list.|Remove my number from your list.|Put me on the do not call list.|Please never call me again.|No more calls, please.`,
    noWish: `Stop calling a taxi, I will walk.|Call me again tomorrow.|Don't call me Bob.|Can I call you again?|Take the bread off the table.|Stop, call me a taxi.|I don't want to call again and again.|Please call back later.|Remove the second item from my order.|Nobody called me back.`,
  },
  de: {
    machine: `Sie können nach dem Signalton eine Nachricht hinterlassen.|Wenn Sie möchten, hinterlassen Sie eine Nachricht nach dem Ton.|Ich kann gerade nicht rangehen, hinterlass eine Nachricht.|Hier ist die Mobilbox von Anna.|
      Hier ist die Combox.|Dies ist der Telefonbeantworter der Familie Keller.|Dieser Anschluss ist vorübergehend nicht erreichbar.|Kein Anschluss unter dieser Nummer.|Sprechen Sie bitte aufs Band.|
      Sie rufen außerhalb unserer Öffnungszeiten an.|Sie rufen außerhalb unserer Sprechzeiten an.|Unsere Praxis ist geschlossen, unsere Öffnungszeiten sind Montag bis Freitag.|Der Teilnehmer ist derzeit nicht erreichbar.|
      Die gewählte Rufnummer ist nicht vergeben.|Bitte hinterlassen Sie Ihre Nachricht nach dem Piepton.|Sprich nach dem Piep.|Sie haben die Familie Müller erreicht, wir sind gerade nicht da.|
      Für eine Sprachnachricht drücken Sie bitte die 1.|Zum Aufsprechen einer Nachricht drücken Sie die Eins.|Um eine Nachricht zu hinterlassen, drücken Sie die Eins.`,
    people: `Er ist nicht am Platz, wir rufen Sie zurück.|Wir haben hier keinen Anrufbeantworter.|Kann ich ihm etwas ausrichten?|Möchten Sie ihm eine Nachricht hinterlassen?|Soll ich etwas ausrichten?|Ja, hallo?|Müller.|Praxis Dr. Weber, guten Tag.|
      Guten Tag, wie kann ich Ihnen helfen?|Bleiben Sie dran, ich hole ihn.|Sie ist gerade im Gespräch.|Herr Schmidt ist heute nicht im Haus.|Einen Moment bitte.|Wer ist da?|Ich bin gerade im Auto, rufen Sie später an.|
      Nein, der Chef ist außer Haus.|Bleiben Sie bitte am Apparat, ich verbinde.|Hallo, hier ist Anna.|Meine Frau kommt gleich.|Bei Keller.|
      Büro von Frau Weber, ich bin die Assistentin, wie kann ich Ihnen helfen?`,
    screening: `Bitte nennen Sie Ihren Namen und den Grund Ihres Anrufs.|Nenne deinen Namen und den Grund für deinen Anruf.|Sagen Sie mir bitte Ihren Namen.|Wen darf ich melden?|Was ist der Grund für Ihren Anruf?|
      Die Person, die du anrufst, verwendet einen Anruffilter von Google. Bitte sag, wer du bist und warum du anrufst.|Drücken Sie eine beliebige Taste, um zu zeigen, dass Sie kein Roboter sind.`,
    menu: `Drücken Sie die Eins für den Vertrieb.|Dieses Gespräch wird zu Schulungszwecken aufgezeichnet.|Alle Mitarbeiter sind im Gespräch.|Der nächste freie Mitarbeiter ist gleich für Sie da.|Bitte haben Sie einen Moment Geduld.|Sie haben folgende Möglichkeiten, wählen Sie die Zwei.`,
    doNotCall: `Rufen Sie mich nicht mehr an.|Rufen Sie hier nicht wieder an.|Rufen Sie mich nie wieder an.|Nehmen Sie mich aus der Liste.|Ich möchte keine Anrufe mehr.|Löschen Sie meine Nummer.|Streichen Sie mich bitte von Ihrer Liste.|Das ist ein Werbewiderspruch.`,
    noWish: `Rufen Sie mich morgen noch einmal an.|Rufen Sie mich nicht vor neun an.|Ich rufe nicht gern an.|Nehmen Sie das vom Tisch.|Wann rufen Sie wieder an?|Ich habe keine Anrufe bekommen.|Löschen Sie bitte den Termin.|Hören Sie mich?`,
  },
  es: {
    machine: `Si desea dejar un mensaje, hable después del tono.|Si quiere dejar un mensaje, hable después de la señal.|Ahora no puedo atenderle, deje un mensaje después de la señal.|Buzón de voz.|El buzón de Ana.|Correo de voz de Juan.|
      Casilla de mensajes.|Déjeme su mensaje.|Déjame un mensaje.|Déjenos un mensaje.|Grabe su mensaje.|El número que usted marcó se encuentra fuera del área de servicio.|El número marcado no existe.|El número no corresponde a ningún abonado.|
      El teléfono al que llama está apagado o fuera de cobertura.|Ha llamado a la clínica, no estamos disponibles.|Llama fuera de nuestro horario.|
      Para grabar un mensaje pulse 1.|Para dejar un mensaje, marque uno.`,
    people: `¿Quieres que le deje un mensaje?|¿Le doy algún recado?|No está en la oficina, le llamamos lo antes posible.|¿Quiere dejarle un recado?|¿Diga?|¿Bueno?|Sí, dígame.|No cuelgue, ahora se pone.|Clínica del Puerto, ¿en qué puedo ayudarle?|
      Ha salido, vuelva a llamar.|Un momento, por favor.|¿Quién es?|Estoy en casa.|No tenemos contestador.|Está reunido, le llamaremos en cuanto pueda.|Ahora no puedo hablar.|Hola, soy Ana.|Se ha equivocado.|El señor Ruiz no está.|Espere, que se lo paso.`,
    screening: `Diga su nombre y el motivo de su llamada.|Di tu nombre y el motivo de tu llamada.|¿Cuál es la razón de su llamada?|¿Quién lo busca?|Indique su nombre, por favor.|
      La persona a la que llamas está usando un servicio de filtrado de llamadas de Google.|Para demostrar que no es un robot, pulse cualquier tecla.`,
    menu: `Para ventas, pulse 1.|Para español, marque dos.|Esta llamada puede ser grabada.|Todos nuestros agentes están ocupados.|Permanezca en línea.|Menú principal.`,
    doNotCall: `No me llame más.|No me llamen nunca más.|No me vuelva a llamar.|Dejen de llamarme.|Borre mi número de su lista.|Estoy en la lista Robinson.|No quiero recibir más llamadas.|Quíteme de la lista.`,
    noWish: `Llámeme más tarde.|No me llame antes de las diez.|No me llamo Juan.|¿Me vuelve a llamar mañana?|No quiero más pan.|Quite el segundo plato.|Ya no me llama nadie.|Deje el paquete en la puerta.`,
  },
  fr: {
    machine: `Laissez un message après le bip sonore.|L'abonné que vous tentez de joindre n'est pas disponible.|Le client que vous tentez de joindre n'est pas disponible.|Le numéro que vous avez composé n'est plus en service.|Enregistrez votre message.|
      Nos bureaux sont actuellement fermés.|Vous êtes bien chez Martin, nous ne pouvons pas vous répondre.|Vous êtes bien sur la messagerie de Paul.|Votre correspondant n'est pas joignable.|Merci de laisser un message.|Vous appelez en dehors de nos horaires.|
      Bonjour, vous êtes sur le répondeur de Julie.|Laissez-moi vos coordonnées, je vous rappelle.|Parlez après le signal sonore.|Boîte vocale.|Le cabinet est fermé, nos horaires d'ouverture sont de neuf à dix-huit heures.|Le numéro demandé n'est pas attribué.|
      Pour laisser un message, tapez 1.|Pour enregistrer un message, appuyez sur la touche 1.`,
    people: `Vous voulez laisser un message ?|Vous souhaitez laisser un message ?|Je prends un message ?|Je peux lui transmettre un message ?|Elle est absente, nous vous rappelons dès que possible.|Allô ?|Oui ?|Ne quittez pas, je vous le passe.|
      Cabinet dentaire du port, bonjour.|Que puis-je faire pour vous ?|Il n'est pas là, rappelez plus tard.|C'est qui ?|Un instant.|Nous n'avons pas de répondeur.|Je suis au travail.|Vous vous trompez de numéro.|Paul à l'appareil.|Il est en réunion, je peux vous aider ?|Oui, bonjour.|Attendez, je vais le chercher.`,
    screening: `Dites votre nom et le motif de votre appel.|Quelle est la raison de votre appel ?|Indiquez l'objet de votre appel.|Enregistrez votre nom.|Qui dois-je annoncer ?|
      La personne que vous appelez utilise un service de filtrage d'appels de Google.|Pour prouver que vous n'êtes pas un robot, appuyez sur une touche.`,
    menu: `Pour les ventes, tapez 1.|Cet appel est susceptible d'être enregistré.|Tous nos conseillers sont occupés.|Veuillez patienter.|Menu principal.|Appuyez sur la touche étoile.`,
    doNotCall: `Ne m'appelez plus.|Ne me rappelez plus jamais.|Ne nous appelez plus.|Arrêtez de m'appeler.|Retirez-moi de votre liste.|Supprimez mon numéro.|Je suis inscrit sur Bloctel.|Je ne veux plus recevoir d'appels.`,
    noWish: `Rappelez-moi demain.|Ne m'appelez pas avant neuf heures.|Je m'appelle Paul.|Je ne vous entends plus.|Retirez le deuxième article.|Vous m'appelez d'où ?|Je n'ai plus d'appétit.|Arrêtez-vous à la gare.`,
  },
  it: {
    machine: `Al momento non posso rispondere, lasciate un messaggio dopo il segnale acustico.|Se vuole lasciare un messaggio, parli dopo il segnale.|Se desidera lasciare un messaggio, parli dopo il bip.|Segreteria telefonica.|Casella vocale.|
      Il numero non è attivo.|I nostri uffici sono chiusi.|Registri il suo messaggio.|Il cliente da lei chiamato non è raggiungibile.|Il telefono della persona chiamata è spento.|Segreteria telefonica di Vodafone.|Risponde la segreteria telefonica.|
      Lasci un messaggio, la richiamerò appena possibile.|Numero inesistente.|Avete chiamato fuori orario.|Non siamo in ufficio, vi ricontatteremo appena possibile.|Parlate dopo il tono.|
      Per registrare un messaggio prema uno.|Per lasciare un messaggio, premere 1.`,
    people: `Segreteria studio dentistico Bianchi, buongiorno.|Segreteria della scuola, buongiorno.|Gli lascio un messaggio?|Vuole lasciare un messaggio?|Posso riferire qualcosa?|Pronto?|Sì, pronto.|Non c'è, richiami più tardi.|È fuori, la richiamiamo il prima possibile.|
      Come posso aiutarla?|Chi parla?|Un attimo, glielo passo.|Attenda in linea un attimo.|Sono al lavoro.|Ha sbagliato numero.|Non abbiamo la segreteria telefonica.|Il dottore è in riunione.|Sono io.|Buongiorno, studio legale.|Mi scusi, chi è?`,
    screening: `Dica il suo nome e il motivo della chiamata.|Chi devo annunciare?|Dimmi il tuo nome e il motivo della tua chiamata.|Qual è il motivo della sua chiamata?|Registri il suo nome, prego.|
      La persona che stai chiamando utilizza un servizio di filtro chiamate di Google.|Per dimostrare di non essere un robot, premi un tasto.`,
    menu: `Per le vendite prema 1.|La chiamata potrebbe essere registrata.|Tutti gli operatori sono occupati.|La preghiamo di attendere.|Menu principale.|Digiti il tasto asterisco.`,
    doNotCall: `Non mi chiami più.|Non mi chiamate mai più.|Smettetela di chiamarmi.|Mi cancelli dalla lista.|Sono iscritto al registro delle opposizioni.|Non voglio più essere chiamato.|Tolga il mio numero dall'elenco.|Non mi telefonate più.`,
    noWish: `Mi richiami domani.|Non mi chiami prima delle nove.|Non mi chiamo Paolo.|Chiamo per la bolletta.|Non ho più tempo.|Mi tolga una curiosità.|Quando mi chiama?|Cancelli il secondo appuntamento.`,
  },
  pt: {
    machine: `Não posso atender agora, deixe seu recado após o sinal.|Se deseja deixar uma mensagem, fale após o sinal.|Atendedor de chamadas.|Grave a sua mensagem.|Grave seu recado depois do sinal.|Fale a seguir ao sinal.|
      O telemóvel que marcou está desligado.|O número marcado não existe.|Caixa postal.|Voice mail.|O número não está atribuído.|Sua chamada está sendo encaminhada para a caixa postal.|O assinante não está disponível.|Estamos fora do horário de atendimento.|
      Você ligou para a clínica, não estamos disponíveis.|Deixe a sua mensagem.|O número que você ligou encontra-se desligado.|
      Para gravar uma mensagem, digite 1.|Para deixar uma mensagem, pressione 1.`,
    people: `Quer deixar recado?|Quer que eu anote um recado?|Ele não está, ligue mais tarde.|Ela saiu, retornamos assim que possível.|Alô?|Estou?|Sim?|Aguarde um momento, já passo.|Clínica do Porto, bom dia.|Em que posso ajudar?|
      Quem fala?|Só um momento.|Não temos atendedor.|Estou no trabalho.|É engano.|O senhor Silva não está.|Posso deixar um recado para ele?|Sou eu.|Oi, tudo bem?|Espere, vou chamá-lo.`,
    screening: `Diga o seu nome e o motivo da sua chamada.|Quem deseja?|Da parte de quem?|Informe o seu nome.|Qual o motivo da ligação?|
      A pessoa para quem está ligando usa um serviço de filtro de chamadas do Google.|Para provar que não é um robô, pressione qualquer tecla.`,
    menu: `Para vendas, digite 1.|Prima a tecla dois.|Esta chamada poderá ser gravada.|Todos os nossos atendentes estão ocupados.|Permaneça na linha.|Menu principal.`,
    doNotCall: `Não me ligue mais.|Não me liguem mais.|Não volte a ligar.|Pare de me ligar.|Tire o meu número da lista.|Não quero receber mais chamadas.|Remova o meu nome.|Não perturbe.`,
    noWish: `Ligue-me mais tarde.|Não me ligue antes das nove.|Não me chamo João.|Me liga amanhã?|Não quero mais pão.|Tire o queijo, por favor.|Pare na esquina.|Ninguém me ligou.`,
  },
  nl: {
    machine: `Spreek uw bericht in na de piep.|Laat een bericht achter na de toon.|Dit is de voicemail van Jan.|Ik kan de telefoon niet opnemen, ik bel zo snel mogelijk terug.|Het nummer is niet in gebruik.|U belt buiten onze openingstijden.|Antwoordapparaat van de familie De Boer.|De abonnee is momenteel niet bereikbaar.|U bent verbonden met Bakker, wij zijn niet aanwezig.`,
    people: `Met Jansen.|Hallo?|Hij is er niet, kan ik een boodschap doorgeven?|Wilt u een boodschap achterlaten?|Waarmee kan ik u helpen?|Zij is niet aanwezig, we bellen u zo snel mogelijk terug.|Momentje, ik haal hem.|Wie is dit?|U heeft het verkeerde nummer.|Goedemorgen, met de praktijk.`,
    screening: `Zeg uw naam en de reden van uw oproep.|Wie kan ik zeggen?|Noem je naam, alsjeblieft.`,
    menu: `Toets 1 voor verkoop.|Dit gesprek kan worden opgenomen.|Al onze medewerkers zijn in gesprek.|Kies twee voor service.`,
    doNotCall: `Bel me niet meer.|Bel mij nooit meer.|Ik wil niet meer gebeld worden.|Stop met bellen.|Haal mijn nummer uit uw bestand.|Verwijder mij van de lijst.`,
    noWish: `Bel me morgen terug.|Bel me niet voor negen uur.|Ik bel nooit.|Haal de pizza uit de oven.|Stop bij het station.`,
  },
  sv: {
    machine: `Lämna ett meddelande efter tonen.|Tala efter pipet.|Det här är telefonsvararen hos Anna.|Abonnenten kan inte nås.|Numret är inte i bruk.|Vi kan inte svara just nu.|Du ringer utanför våra öppettider.|Personen du söker är inte tillgänglig, personen kan inte nås.|Du har kommit till Bergs, vi är inte på plats.`,
    people: `Ja, hallå?|Det är Anna.|Han är inte inne, kan jag hälsa något?|Vad kan jag hjälpa till med?|Vänta lite.|Vem är det?|Du har ringt fel.|Hon är upptagen, hon ringer upp dig snart.|Vårdcentralen, god dag.|Ska jag ta ett meddelande?`,
    screening: `Säg ditt namn och anledningen till ditt samtal.|Vem får jag hälsa ifrån?|Uppge ditt namn.`,
    menu: `Tryck 1 för försäljning.|Samtalet spelas in.|Alla medarbetare är upptagna, du har plats tre i kön.|Välj två.`,
    doNotCall: `Ring inte mig mer.|Ring aldrig hit igen.|Sluta ringa.|Ta bort mitt nummer.|Stryk mig från listan.|Jag vill inte bli uppringd.`,
    noWish: `Ring mig i morgon.|Ring inte före nio.|Jag ringer aldrig.|Ta bort osten, tack.|Kan du ringa igen?`,
  },
  pl: {
    machine: `Zostaw wiadomość po sygnale.|Proszę nagrać wiadomość po usłyszeniu sygnału.|Poczta głosowa.|Abonent jest niedostępny lub poza zasięgiem.|Nie ma takiego numeru.|Nie mogę teraz odebrać.|Dzwonisz poza godzinami pracy.|Automatyczna sekretarka.|Dodzwoniłeś się do kancelarii, nie ma mnie w biurze.`,
    people: `Tak, słucham?|Halo?|Nie ma go, czy coś przekazać?|Szefa nie ma, oddzwonimy jak najszybciej, on jest na spotkaniu.|W czym mogę pomóc?|Kto mówi?|Chwileczkę, już proszę.|Pomyłka.|Przychodnia, dzień dobry.|Jestem w pracy.`,
    screening: `Podaj imię i nazwisko oraz powód rozmowy.|Kogo mam zapowiedzieć?|W jakiej sprawie dzwoni pan?`,
    menu: `Naciśnij 1.|Rozmowa jest nagrywana.|Wszyscy konsultanci są zajęci.|Wybierz jeden, aby połączyć się z działem sprzedaży.`,
    doNotCall: `Proszę więcej do mnie nie dzwonić.|Nie dzwońcie do mnie więcej.|Proszę usunąć mój numer.|Proszę mnie wykreślić z listy.|Nie życzę sobie telefonów.|Przestańcie dzwonić.`,
    noWish: `Proszę zadzwonić jutro.|Proszę nie dzwonić przed dziewiątą.|Nie dzwoniłem.|Proszę usunąć ser.|Kiedy pan zadzwoni?`,
  },
  tr: {
    machine: `Sinyal sesinden sonra mesajınızı bırakın.|Lütfen mesajınızı kaydedin.|Aradığınız kişiye şu anda ulaşılamıyor.|Aradığınız numara kullanılmamaktadır.|Telesekreter.|Mesai saatleri dışındayız.|Bip sesinden sonra konuşun.|Şu anda cevap veremiyorum.|Aradığınız abone cevap vermiyor.`,
    people: `Alo?|Efendim?|Buyurun.|Ahmet Bey şu an yok, not alayım mı?|Size nasıl yardımcı olabilirim?|Kimsiniz?|Bir dakika, veriyorum.|Yanlış numara.|Ayşe Hanım toplantıda, sizi geri arayacağız.|Toplantıdayım.`,
    screening: `Adınızı ve arama nedeninizi söyleyin.|Kim arıyor diyeyim?|Lütfen isminizi belirtin.`,
    menu: `Satış için 1'e basın.|Görüşmeniz kayıt altına alınmaktadır.|Tüm temsilcilerimiz meşgul.|Lütfen hatta kalın.`,
    doNotCall: `Beni bir daha aramayın.|Artık aramayın.|Numaramı silin.|Beni listeden çıkarın.|Aranmak istemiyorum.|Tekrar aramayın.`,
    noWish: `Beni yarın arayın.|Dokuzdan önce arayamam.|Kim aradı?|Peyniri çıkarın.|Tekrar arar mısınız?`,
  },
  ja: {
    machine: `発信音のあとにメッセージをお話しください。|ただいま電話に出ることができません。|おかけになった電話は、電波の届かない場所にあるか、電源が入っていないため、かかりません。|おかけになった電話番号は現在使われておりません。|留守番電話サービスです。|営業時間外です。|ピーという音のあとに、お名前とご用件をお話しください。|伝言をお預かりします。|本日の診療は終了しました。`,
    people: `はい、もしもし。|はい、山田です。|お電話ありがとうございます、ご用件をお伺いします。|部長は席を外しております、折り返しお電話します。|何かお伝えしましょうか。|どちら様ですか。|少々お待ちください。|間違い電話です。|今、仕事中です。|母は今いません。`,
    screening: `お名前とご用件をおっしゃってください。|どちら様とお伝えすればよろしいですか。|ご用件をお話しください。`,
    menu: `1番を押してください。|この通話は録音させていただきます。|ただいま電話が大変混み合っております。|メニューをお選びください。`,
    doNotCall: `もう電話しないでください。|二度とかけてこないで。|電話はやめてください。|もう電話をかけてこないでください。|リストから削除してください。|番号を消してください。`,
    noWish: `明日電話してください。|九時前に電話してください。|電話をもらえますか。|予約を変更してください。|もう一度お願いします。`,
  },
  hi: {
    machine: `बीप के बाद अपना संदेश छोड़ें।|आपके द्वारा डायल किया गया नंबर स्विच ऑफ है।|जिस व्यक्ति से आप संपर्क करना चाहते हैं वह अभी उपलब्ध नहीं है।|वॉइस मेल में आपका स्वागत है।|जिस नंबर पर आप कॉल कर रहे हैं वह व्यस्त है।|मैं फोन नहीं उठा सकता।|टोन के बाद संदेश रिकॉर्ड करें।|यह नंबर मौजूद नहीं है।|आपने कार्य समय के बाहर कॉल किया है।`,
    people: `हैलो?|जी, कौन?|वो अभी नहीं हैं, कोई संदेश दूँ?|मैं आपकी क्या मदद कर सकता हूँ?|एक मिनट।|ग़लत नंबर है।|साहब मीटिंग में हैं, जल्द से जल्द कॉल करेंगे।|मैं राजेश बोल रहा हूँ।|अभी काम में हूँ।|नमस्ते, शर्मा क्लिनिक।`,
    screening: `कृपया अपना नाम बताएं।|आपकी कॉल का कारण क्या है?|अपना नाम और कॉल करने का कारण बताइए।`,
    menu: `हिन्दी के लिए 1 दबाएँ।|यह कॉल रिकॉर्ड की जा सकती है।|सभी प्रतिनिधि व्यस्त हैं।|मुख्य मेनू।`,
    doNotCall: `मुझे दोबारा कॉल मत करना।|फिर से फोन मत कीजिए।|कॉल करना बंद करो।|मेरा नंबर हटा दीजिए।|आगे से कॉल मत करिए।|मेरा नंबर लिस्ट से निकाल दो।`,
    noWish: `कल फोन कीजिए।|दोबारा कॉल कीजिए।|मेरा नंबर लिख लीजिए।|पनीर हटा दीजिए।|आपने फोन किया था?`,
  },
}
