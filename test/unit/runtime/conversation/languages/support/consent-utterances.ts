/** What people say after "May I record this call?", by language; utterances between bars. */
export interface ConsentUtterances {
  readonly yes: string
  readonly no: string
  /** The question is to be asked again. */
  readonly unclear: string
  /** Neither: other talk, questions, pick-up greetings, irony, conditions. */
  readonly neither: string
  /** Not looked at while the lists were written. `held`: must not be consent; `heldYes`: should be. */
  readonly heldYes: string
  readonly heldNo: string
  readonly heldNeither: string
}

export const CONSENT: Readonly<Record<string, ConsentUtterances>> = {
  en: {
    yes: `Yes.|Yes, please.|Yeah, sure.|Yep.|Sure.|Sure, not a problem.|Of course.|Of course you can.|I don't mind.|I do not mind.|No problem.|
      No, go ahead.|Go for it.|Sounds good.|That works.|Please do.|You may.|By all means.|I consent.|Mm-hmm.|Uh-huh.|Okay.|Okay, go ahead.|
      Um, yes.|Well, yes.|Fine by me.|That's fine.|Why not?|Absolutely.|one|I agree.|Yes, you can record this.`,
    no: `No.|No, thanks.|Nope.|Nah.|I'd rather not.|I'd prefer not to.|I object.|I decline.|I disagree.|I don't want that.|Please don't record.|
      Absolutely not.|No way.|two|Please don't.|I do not consent.|Not really.|I'm not comfortable with that.|Yeah, no, I don't want that.|Don't do that.`,
    unclear: `Sorry?|Pardon?|What was that?|I didn't catch that.|I can't hear you.|What did you say?|Can you repeat that?|Come again?|I didn't understand.|Huh?`,
    neither: `Are you sure?|Okay, who is this?|I am fine, thanks, and you?|It depends on what I agree to.|Hello, yes?|Yes, hello?|Yes, this is John.|
      Yes, I have a question.|Hello?|Yes?|Okay?|What for?|Is that really necessary?|Yes, but only if you delete it afterwards.|Sure you are.|
      Yes, I'm calling about my bill.|I agree to disagree.|Fine, whatever, who are you|I need an appointment.|Speaking.|Right, so about my order.|
      It's a yes or no question?|Good morning.`,
    heldYes: `Yes, that's fine.|Yeah, go ahead.|Sure, go ahead.|Yes, of course.|Okay, that's fine.|Alright.|Certainly.|Yes, you may.|Yeah, that's okay.|Definitely.|Oh, sure.|Yes, thank you.`,
    heldNo: `No, don't.|No, I don't want to be recorded.|I would rather you didn't.|Never.|No, not okay.|I refuse.`,
    heldNeither: `Yes, how can I help you?|Yes, speaking, who's there?|Okay so listen I want to book a table.|Sure, but who are you?|Yeah right.|Yes, and what happens with the recording?|
      I said yes last time and regretted it.|Maybe.|Let me think.|Is this a robot?|Yes, I'd like a table for two.|Of course it depends.`,
  },
  de: {
    yes: `Ja.|Ja, gerne.|Ja, bitte.|Gerne.|Ja, natürlich.|Jo.|Jep.|Genau.|Stimmt.|Freilich.|Meinetwegen.|Von mir aus.|Geht klar.|Geht in Ordnung.|
      Nur zu.|Können Sie machen.|Ja, können Sie gerne machen.|Kein Problem.|Kein Thema.|Warum auch nicht?|Warum nicht?|Ich habe nichts dagegen.|
      Ich bin einverstanden.|Einverstanden.|Ja, das ist in Ordnung.|In Ordnung.|Ähm, ja.|Also ja, gerne.|Eins|Die Eins.|Passt.|Okay.|
      Das stört mich nicht.|Macht mir nichts aus.|Ja, danke.|Selbstverständlich.`,
    no: `Nein.|Nein, danke.|Nee.|Lieber nicht.|Nein, kein Problem damit, aber lieber nicht.|Bin nicht einverstanden, kein Problem.|Auf keinen Fall.|
      Das möchte ich nicht.|Ich will das nicht.|Bitte nicht.|Zwei|Zwo.|Die Zwei.|Ungern.|Keine Aufzeichnung bitte.|Nicht aufzeichnen.|
      Ich widerspreche.|Ja, nein, lieber nicht.|Niemals.|Ohne Aufzeichnung.`,
    unclear: `Wie bitte?|Ich habe Sie nicht verstanden.|Bitte was?|Hä?|Was?|Ich verstehe Sie schlecht.|Noch einmal bitte.|Was haben Sie gesagt?|Das habe ich nicht mitbekommen.|Wie war das?`,
    neither: `Ich hätte gern einen Termin.|Ich möchte gerne wissen, wer Sie sind.|Was machen Sie denn damit?|Sind Sie sicher?|Wann passt es Ihnen?|
      Ist das denn in Ordnung?|Das ist ja interessant.|Ich ruf ja nur wegen der Rechnung an.|Ja?|Ja, hallo?|Ja, hallo.|Müller, ja bitte?|
      Müller, ja bitte.|Ja, guten Tag.|Ja, hier ist Müller.|Hallo?|Worum geht es denn?|Ja, aber nur heute.|Ja, wenn Sie es wieder löschen.|
      Ja klar, ihr wollt mich doch veräppeln.|Im Mai.|Ja, wer ist denn da?|Gerne geschehen.|Wer spricht da?`,
    heldYes: `Ja, klar.|Ja, einverstanden.|Ja, das geht in Ordnung.|Natürlich.|Ja, von mir aus.|Aber gerne.|Ja, machen Sie.|Okay, kein Problem.|Jawohl.|Ja, ist okay.|Klar, gerne.|Na klar.`,
    heldNo: `Nein, das möchte ich nicht.|Nö.|Auf gar keinen Fall.|Nein, bitte nicht.|Nee, lieber nicht.|Nein, ich bin nicht einverstanden.`,
    heldNeither: `Ja, Praxis Dr. Schmidt, guten Morgen.|Ja, was gibt es denn?|Ja gut, aber warum?|Gerne würde ich das erst einmal wissen.|Ja, ich höre.|
      Ja, ich wollte fragen, ob Sie offen haben.|Na klar, und morgen fliegen die Kühe.|Ja, Moment, ich bin gerade im Auto.|Kommt darauf an.|Vielleicht.|Ja, sind Sie denn ein Mensch?|Genau deswegen rufe ich an.`,
  },
  es: {
    yes: `Sí.|Sí, claro.|Claro.|Claro que sí.|Cómo no.|No hay problema.|No pasa nada.|No hay inconveniente.|Adelante.|Vale.|De acuerdo.|Por supuesto.|
      Está bien.|Perfecto.|Dale.|Venga.|Autorizo.|Listo.|Órale.|Uno|El uno.|Si.|Bueno.|Sí, por favor.|Sí, gracias.|¿Por qué no?|
      Sí, puede grabar.|Sin problema.|No me importa.|Eh, sí.|Desde luego.|Me parece bien.`,
    no: `No.|No, gracias.|No, por qué no llama luego.|Prefiero que no.|Mejor no.|Para nada.|Ni hablar.|De ninguna manera.|Qué va.|No quiero.|
      No me grabe.|No acepto.|No estoy de acuerdo.|Dos|El dos.|Sí, no, mejor no.|Nunca.|No autorizo.|Claro que no.|Me niego.`,
    unclear: `¿Cómo?|¿Cómo dice?|No le oigo.|No le entiendo.|¿Perdón?|¿Mande?|No entendí.|¿Puede repetir?|¿Qué ha dicho?|No se oye.`,
    neither: `Quería saber si abren el domingo.|Si me llama más tarde se lo digo.|¿Cuánto vale?|¿Bueno?|¿Quién es usted, si se puede saber?|¿Sí?|¿Sí, dígame?|
      Sí, dígame.|Diga.|Hola, buenos días.|Sí, soy Juan.|Bueno, quería una mesa.|Vale la pena.|Sí, pero solo hoy.|¿Está bien así?|
      Claro, ¿y para qué?|Tengo una pregunta.|¿Quién habla?|Sí, hola.|¿De acuerdo con qué?|Vale, ¿quién es?|A ver si me entiende.|El domingo.`,
    heldYes: `Sí, adelante.|Sí, sin problema.|Sí, está bien.|Claro, adelante.|Vale, adelante.|Sí, de acuerdo.|Por supuesto que sí.|Sí, perfecto.|Ok.|Sí, acepto.|No, no hay problema.|Ningún problema.`,
    heldNo: `No, no quiero.|No, prefiero que no.|No, mejor no.|No deseo que me graben.|No, no autorizo.|Que no.`,
    heldNeither: `Sí, ¿con quién hablo?|Sí, mire, llamo por la factura.|Bueno, depende.|¿Y si digo que no?|Sí, claro, y yo soy el rey.|Sí, un momento.|Claro que me gustaría saber quién llama.|
      Quiero hablar con una persona.|Sí, es que no tengo tiempo.|Tal vez.|Perfecto, entonces mañana a las diez.|Sí, buenas tardes.`,
  },
  fr: {
    yes: `Oui.|Oui, bien sûr.|Ouais.|D'accord.|Bien sûr.|C'est bon.|Ça marche.|Ça me va.|Parfait.|Très bien.|Vas-y.|Allez-y.|Absolument.|Je veux bien.|
      Sans problème.|Aucun souci.|Faites donc.|Pas de problème.|Oui, pas de soucis.|Ça me dérange pas.|Je n'y vois pas d'inconvénient.|Pourquoi pas ?|
      Un|Le un.|Oui, merci.|Euh, oui.|Tout à fait.|Volontiers.|J'accepte.|Entendu.|Oui oui.|Oui, allez-y.`,
    no: `Non.|Non merci.|Je ne veux pas.|Je refuse.|Hors de question.|Ça me dérange.|Pas du tout.|Surtout pas.|Je préfère pas.|Je préfère que non.|
      Pas question.|Deux|Le deux.|Je ne suis pas d'accord.|N'enregistrez pas.|Jamais.|Oui, non, plutôt non.|Sans enregistrement.|Je m'y oppose.|Non, pas d'accord.`,
    unclear: `Pardon ?|Comment ?|Je n'ai pas compris.|Je n'ai pas entendu.|Vous pouvez répéter ?|Hein ?|Quoi ?|J'entends mal.|Je vous entends très mal.|Qu'est-ce que vous avez dit ?`,
    neither: `Je voudrais savoir si vous êtes ouverts.|Vous avez entendu ?|Oui, allô ?|Oui allô.|Allô oui ?|Oui ?|Allô ?|Oui, bonjour.|Oui, c'est moi.|
      Oui, mais seulement aujourd'hui.|Si vous saviez.|C'est pour un rendez-vous.|Oui, c'est à quel sujet ?|Qui est à l'appareil ?|D'accord, mais pourquoi ?|
      Bien sûr que je voudrais savoir.|J'ai bien entendu parler de vous.|Oui, Madame Martin à l'appareil.|Ça dépend.|Peut-être.|Bonjour.|C'est bon, vous avez fini ?`,
    heldYes: `Oui, d'accord.|Oui, pas de problème.|Oui, ça me va.|Ok, pas de souci.|Oui, vous pouvez.|Bien sûr, allez-y.|Oui, tout à fait.|Oui, je suis d'accord.|Ben oui.|Oui, parfait.|Évidemment.|Oui, sans problème.`,
    heldNo: `Non, je ne préfère pas.|Non, je refuse.|Ah non.|Non non.|Certainement pas.|Non, je ne veux pas être enregistré.`,
    heldNeither: `Oui, j'écoute.|Oui, je vous appelle pour ma facture.|Oui, qui est-ce ?|Oui, cabinet du docteur Roux, bonjour.|Oui bon écoutez je n'ai pas le temps.|Vous êtes un robot ?|
      Très bien, alors je voudrais une table.|Oui oui c'est ça, bien sûr, à d'autres.|Je ne sais pas.|D'accord, et vous êtes ?|Oui, un instant.|Parfait, demain à dix heures.`,
  },
  it: {
    yes: `Sì.|Sì, certo.|Certo.|Va bene.|D'accordo.|Come no!|Non c'è problema.|Nessun problema.|Non mi dà fastidio.|Perfetto.|Va benissimo.|Sicuramente.|
      Senz'altro.|Acconsento.|Esatto.|Uno|L'uno.|Sì, grazie.|Faccia pure.|Volentieri.|Perché no?|Ehm, sì.|Certamente.|Ma certo.|Sicuro.|
      Prego.|Non ho niente in contrario.|Si.|Accetto.|Sì, va bene.|Per me va bene.`,
    no: `No.|No grazie.|Preferisco di no.|Per niente.|Direi di no.|Assolutamente no.|Non voglio.|Non registri.|Meglio di no.|Rifiuto.|Due|Il due.|
      Non sono d'accordo.|Mi oppongo.|Mai.|Certo che no.|Sì, no, meglio di no.|Non accetto.|Senza registrazione.|No, non mi va.`,
    unclear: `Prego, come?|Come?|Scusi?|Non ho capito.|Non la sento.|Può ripetere?|Non ho sentito.|Che cosa ha detto?|La sento male.|Come dice?`,
    neither: `Prego?|Come si chiama?|Si è sbagliato.|È sicuro?|Un certo signor Rossi.|Sì, pronto?|Sì pronto.|Pronto?|Sì?|Sì, mi dica.|Sì, sono io.|
      Sì, ma solo oggi.|Prego, mi dica.|Vorrei un appuntamento.|Si può sapere chi è?|Certo che è strano.|Va bene, ma chi parla?|Sì, buongiorno.|
      Dipende.|Forse.|Chi parla?|Sicuro che non mi costa niente?|Sì, se poi la cancellate.|Esatto, chiamo per la bolletta.`,
    heldYes: `Sì, va benissimo.|Sì, nessun problema.|Certo, faccia pure.|Sì sì.|Ok, va bene.|Sì, d'accordo.|Ma sì.|Sì, certamente.|Naturalmente.|Sì, non c'è problema.|Certo che sì.|Eh, sì.`,
    heldNo: `No, preferirei di no.|No, non voglio.|Eh no.|No, non acconsento.|No no.|Non desidero essere registrato.`,
    heldNeither: `Sì, chi è?|Sì, guardi, chiamo per la fattura.|Sì, un attimo.|Certo, e poi?|Sì, studio Bianchi, buongiorno.|Lei è un robot?|Non lo so.|Va bene così il tavolo per due?|
      Sì sì come no, bella scusa.|Si figuri.|Perfetto, allora domani alle dieci.|Sì, però non ho tempo.`,
  },
  pt: {
    yes: `Sim.|Sim, pode ser.|Claro.|Claro que sim.|Com certeza.|Pode.|Pode sim.|Pode gravar.|Não tem problema.|Não faz mal.|Não vejo problema.|Sem problema.|
      Tá bom.|Tá.|Beleza.|Perfeito.|Isso mesmo.|Combinado.|Fechado.|De acordo.|Autorizo.|Um|Por que não?|Sim, obrigado.|Tudo bem.|Está bem.|
      Concordo.|Aceito.|À vontade.|Não me importo.|Ah, sim.|Por mim tudo bem.`,
    no: `Não.|Não, obrigado.|Nem pensar.|De jeito nenhum.|De maneira nenhuma.|Negativo.|Prefiro que não.|Não quero.|Não autorizo.|Recuso.|Dois|O dois.|
      Não concordo.|Melhor não.|Nunca.|Claro que não.|Não grave.|Sim, não, melhor não.|Não aceito.|Sem gravação.`,
    unclear: `Como?|Como assim?|Não entendi.|Não percebi.|Não ouvi.|Pode repetir?|O quê?|Desculpe?|Não estou ouvindo.|O que disse?`,
    neither: `Pode repetir, por favor, quem é?|Pode dizer quem é?|Tudo bem?|Gostaria de saber se pode ser amanhã.|Sim, estou?|Sim, estou.|Estou?|Alô?|Sim?|Oi, tudo bem?|
      Sim, quem fala?|Pois sim.|Pois não.|Pois não, pode gravar.|Sim, mas só hoje.|Quero uma mesa.|No domingo.|Certo, e quem é você?|Sim, sou eu.|Sim, bom dia.|Depende.|Talvez.|
      Pode ser que sim.|Claro, mas para quê?|Tá bom, e daí?`,
    heldYes: `Sim, claro.|Sim, pode.|Sim, sem problema.|Ok, pode gravar.|Pode, sim.|Claro, pode.|Sim, concordo.|Tá certo, pode.|Sim, tudo bem.|Sim, com certeza.|Não, não tem problema.|Sim, pode gravar.`,
    heldNo: `Não, não quero.|Não, prefiro que não.|Não pode.|Não, não autorizo.|Não gostaria.|Ah, não.`,
    heldNeither: `Sim, diga.|Sim, eu queria marcar uma consulta.|Sim, um momento.|Pode ser às dez?|Você é um robô?|Sim, clínica do Porto, bom dia.|Não sei.|Claro que eu queria saber quem fala.|
      Sim, sim, conta outra.|Está bem, então amanhã.|Perfeito, às nove então.|Sim, só que estou sem tempo.`,
  },
  nl: {
    yes: `Ja.|Ja hoor.|Ja, graag.|Prima.|Is goed.|Dat is goed.|Oké.|Natuurlijk.|Doe maar.|Dat mag.|Dat mag hoor.|Geen probleem.|Geen bezwaar.|Waarom niet?|
      Maakt niet uit.|Ga uw gang.|Ik ga akkoord.|Akkoord.|Zeker.|Eén|De één.|Jazeker.|Uh, ja.|Ja, dat vind ik goed.|U mag opnemen.|Vind ik prima.|Neem maar op.|Ja, dank u.|In orde.|Uiteraard.`,
    no: `Nee.|Nee, dank u.|Liever niet.|Neen.|Absoluut niet.|Dat wil ik niet.|Geen opname.|Ik weiger.|Twee|De twee.|Niet opnemen.|In geen geval.|Ja, nee, liever niet.|Zeker niet.|Nooit.|Geen toestemming.|Niet akkoord.|Nee, geen probleem maar liever niet.`,
    unclear: `Wat zegt u?|Sorry?|Ik heb u niet verstaan.|Ik versta u niet.|Kunt u dat herhalen?|Pardon?|Wablief?|Nog een keer?|Ik hoor u slecht.|Niet goed begrepen.`,
    neither: `Ja, hallo?|Ja, hallo.|Ja?|Met Jansen.|Ja, met Jansen.|Hallo?|Goedemorgen.|Wie bent u?|Ik wil graag een afspraak.|Ja, maar alleen vandaag.|Is dat goed?|
      Ja, zegt u het maar.|Oké, wie is dit?|Ik zou graag weten wie u bent.|Misschien.|Dat hangt ervan af.|Ja, waar gaat het over?|Natuurlijk wil ik dat eerst weten.|Prima, dan tot morgen.|Ja, ik luister.|Hoezo?|Goed weer vandaag.`,
    heldYes: `Ja, dat is prima.|Ja, prima.|Ja, natuurlijk.|Ja, geen probleem.|Oké, is goed.|Ja, doe maar.|Dat is oké.|Jawel.|Ja, dat mag.|Ja, akkoord.`,
    heldNo: `Nee, dat wil ik niet.|Nee, liever niet.|Nee hoor.|Nee nee.`,
    heldNeither: `Ja, met de praktijk van dokter De Vries.|Ja, ik bel over mijn rekening.|Ja, momentje.|Bent u een robot?|Ja ja, dat zal wel.|Zeker weten dat het gratis is?|Ja, goedemiddag.|Weet ik niet.|Graag een tafel voor twee.|Oké dus ik zocht een kamer.`,
  },
  sv: {
    yes: `Ja.|Ja, gärna.|Javisst.|Ja visst.|Absolut.|Okej.|Det går bra.|Går bra.|Självklart.|Inga problem.|Kör på.|Det är okej.|Jag godkänner det.|Det får du.|Varför inte?|
      Jag har inget emot det.|Ett|En etta.|Japp.|Visst.|Jo.|Ja tack.|Det är lugnt.|Öh, ja.|Jag samtycker.|Det gör inget.|Ja, det går bra.|Inget problem.|Gärna.|Naturligtvis.`,
    no: `Nej.|Nej tack.|Helst inte.|Absolut inte.|Nä.|Det vill jag inte.|Aldrig.|Två|En tvåa.|Spela inte in.|Ingen inspelning.|Nix.|Jag vill inte.|Ja, nej, helst inte.|Jag godkänner inte det.|Utan inspelning.|Det är inte okej.|Nej, inga problem men helst inte.`,
    unclear: `Va?|Ursäkta?|Hur sa?|Jag hörde inte.|Jag förstår inte.|Vad sa du?|Kan du säga det igen?|Jag uppfattade inte det.|Förlåt?|En gång till?`,
    neither: `Ja, hallå?|Ja, hej.|Hallå?|Ja?|Ja, det är Anna.|Anna Svensson.|Vem är det?|Jag vill gärna boka en tid.|Ja, men bara i dag.|Är det okej?|Ja, vad gäller det?|
      Okej, vem är du?|Kanske.|Det beror på.|God morgon.|Jag skulle gärna vilja veta vem du är.|Absolut fel nummer.|Ja, jag lyssnar.|Visst är det kallt i dag.|Vad ska ni med det till?|Bra, då ses vi.|Ja, vänta lite.`,
    heldYes: `Ja, absolut.|Ja, det är okej.|Ja, självklart.|Okej, det går bra.|Jajamän.|Ja, det får du.|Ja, inga problem.|Visst, kör på.`,
    heldNo: `Nej, det vill jag inte.|Nej, helst inte.|Nej, absolut inte.|Nej nej.`,
    heldNeither: `Ja, jag ringer om min faktura.|Ja, ett ögonblick.|Är du en robot?|Ja ja, visst, säkert.|Ja, vårdcentralen, god dag.|Jag vet inte.|Okej så jag söker en lägenhet.|Gärna ett bord för två.`,
  },
  pl: {
    yes: `Tak.|No tak.|Tak, tak.|Dobrze.|Dobra.|Jasne.|Oczywiście.|Pewnie.|Zgoda.|Zgadzam się.|Tak, zgadzam się.|Wyrażam zgodę.|Nie ma problemu.|Nie ma sprawy.|Nie mam nic przeciwko.|
      Czemu nie?|Może być.|Niech będzie.|Jak najbardziej.|W porządku.|Jeden|Jedynka.|Okej.|No dobrze.|Tak, proszę.|Bez problemu.|Nie przeszkadza mi to.|Chętnie.|Yyy, tak.|Proszę bardzo.`,
    no: `Nie.|Nie, dziękuję.|Raczej nie.|Wolę nie.|Wolałbym nie.|Nie zgadzam się.|Nie wyrażam zgody.|Nie chcę.|Odmawiam.|Nigdy.|Dwa|Dwójka.|Absolutnie nie.|Proszę nie nagrywać.|Tak, nie, raczej nie.|Nie życzę sobie.|Oczywiście, że nie.|No nie.`,
    unclear: `Słucham?|Co proszę?|Nie zrozumiałem.|Nie zrozumiałam.|Nie słyszę.|Proszę powtórzyć.|Jeszcze raz?|Nie dosłyszałem.|Co pan powiedział?|Nic nie słyszę, nie rozumiem.`,
    neither: `Tak, słucham?|Tak, słucham.|Tak?|Halo?|Halo, tak?|Dzień dobry.|Kto mówi?|Chciałbym się umówić.|Tak, ale tylko dzisiaj.|Czy to jest w porządku?|Tak, o co chodzi?|
      Dobrze, a kto dzwoni?|Może.|To zależy.|Kowalski, słucham.|Tak, jestem.|Pewnie pan żartuje.|Oczywiście chciałbym wiedzieć po co.|Dobrze, to do jutra.|Tak, chwileczkę.|Po co?|No to ja dziękuję za informację o godzinach.`,
    heldYes: `Tak, oczywiście.|Tak, dobrze.|Tak, jasne.|Tak, nie ma problemu.|Dobrze, zgadzam się.|Okej, może być.|Tak, w porządku.|No pewnie.`,
    heldNo: `Nie, nie zgadzam się.|Nie, wolałabym nie.|Nie nie.|Zdecydowanie nie.`,
    heldNeither: `Tak, dzwonię w sprawie rachunku.|Tak, przychodnia, dzień dobry.|Czy pan jest robotem?|Tak, tak, akurat.|Nie wiem.|Jasne, a po co?|Dobrze, że pan dzwoni.|Proszę stolik dla dwóch osób.`,
  },
  tr: {
    yes: `Evet.|Tamam.|Olur.|Tabii.|Tabii ki.|Elbette.|Kabul ediyorum.|Evet, kabul ediyorum.|Onaylıyorum.|Sorun değil.|Sorun yok.|Sakıncası yok.|Kaydedebilirsiniz.|Memnuniyetle.|Neden olmasın?|
      Evet, lütfen.|Evet, teşekkürler.|Bir|Bir numara.|Peki.|Olabilir.|Uygundur.|İzin veriyorum.|Fark etmez.|Problem değil.|İtirazım yok.|Hay hay.|Iı, evet.|Tamamdır.|Benim için sorun değil.`,
    no: `Hayır.|Hayır, teşekkürler.|İstemiyorum.|Olmaz.|Kabul etmiyorum.|Kaydetmeyin.|Reddediyorum.|Asla.|İzin vermiyorum.|İki|İki numara.|Yok, istemem.|Kesinlikle hayır.|Onaylamıyorum.|Evet, hayır, istemiyorum.|Kayıt istemiyorum.|Gerek yok.|Yo.`,
    unclear: `Efendim?|Anlamadım.|Anlayamadım.|Duyamadım.|Ne dediniz?|Nasıl?|Tekrar eder misiniz?|Sesiniz gelmiyor.|Duyamıyorum.|Pardon?`,
    neither: `Alo, evet?|Evet?|Evet, buyurun kim arıyor?|Evet, benim.|Merhaba.|Kimsiniz?|Randevu almak istiyordum.|Evet, ama sadece bugün.|Tamam mı?|Evet, konu nedir?|Tamam, siz kimsiniz?|
      Belki.|Duruma göre.|Günaydın.|Evet, bir dakika.|Olur mu öyle şey.|Tabii bilmek isterim neden.|Peki ne yapacaksınız bununla?|Tamam, yarın görüşürüz.|İyi günler.|Niçin?|Evet, dinliyorum.`,
    heldYes: `Evet, olur.|Evet, tabii.|Tamam, olur.|Evet, sorun değil.|Tabii, kaydedebilirsiniz.|Evet, onaylıyorum.|Evet, elbette.|Evet evet.`,
    heldNo: `Hayır, istemiyorum.|Hayır, kabul etmiyorum.|Hayır hayır.|Yok, olmaz.`,
    heldNeither: `Evet, faturam için arıyorum.|Evet, kiminle görüşüyorum?|Siz robot musunuz?|Bilmiyorum.|Tabii canım, inandım.|Evet de neden?|Tamam o zaman iki kişilik masa.|Evet, klinik, buyurun.`,
  },
  ja: {
    yes: `はい。|はい、いいです。|はい、大丈夫です。|ええ。|うん、いいよ。|いいですよ。|大丈夫です。|かまいません。|構いません。|どうぞ。|はい、どうぞ。|お願いします。|はい、お願いします。|了解です。|わかりました。|
      承知しました。|同意します。|問題ありません。|もちろんです。|オッケーです。|一|いち|一番|えっと、はい。|あ、はい。|はい、同意します。|録音してください。|いいです。|けっこうです。|ええ、構いませんよ。`,
    no: `いいえ。|いえ、結構です。|いやです。|だめです。|やめてください。|録音しないでください。|お断りします。|困ります。|二|二番|したくありません。|遠慮します。|同意しません。|ダメです。|いや、ちょっと困ります。|録音は結構です。|いらないです。|嫌です。`,
    unclear: `え？|もしもし？|聞こえません。|聞き取れませんでした。|すみません、もう一度お願いします。|なんですか？|何ですか。|わかりません。|よく聞こえないです。|なんとおっしゃいましたか？`,
    neither: `はい、もしもし。|はい、山田です。|はい？|はい、山田でございます。|どちら様ですか。|予約したいのですが。|はい、でも今日だけです。|いいですか？|何のためにですか？|
      はい、どちら様ですか。|お世話になっております。|こんにちは。|はい、少々お待ちください。|たぶん。|明日の十時で。|はい、何でしょうか。|ええと、料金のことで。|本当に必要ですか？|はい、代わります。|考えます。|そうですか。|はい、受付です。`,
    heldYes: `はい、わかりました。|はい、構いません。|はい、問題ないです。|うん、大丈夫。|はい、オッケーです。|ええ、どうぞ。|はいはい。|はい、いいですよ。`,
    heldNo: `いいえ、結構です。|いや、やめてください。|いえ、録音しないでほしいです。|それは困ります。`,
    heldNeither: `はい、料金の件で電話しました。|はい、株式会社山田です。|ロボットですか？|はい、でもどうしてですか。|ちょっと待って。|二人で予約お願いしたいです。|はいはい、そうですか、それは大変ですね。|誰ですか。`,
  },
  hi: {
    yes: `हाँ।|जी हाँ।|हाँ जी।|ठीक है।|बिल्कुल।|जी बिल्कुल।|ज़रूर।|कोई बात नहीं।|कोई दिक्कत नहीं।|कर लीजिए।|हाँ, कर लीजिए।|कर सकते हैं।|हाँ, आप रिकॉर्ड कर सकते हैं।|सहमत हूँ।|मैं सहमत हूँ।|चलेगा।|क्यों नहीं?|
      haan ji|theek hai|एक|जी|हाँ, ठीक है।|हां|मुझे कोई आपत्ति नहीं है।|ओके|मंज़ूर है।|कोई समस्या नहीं।|हाँ, धन्यवाद।|अच्छा, ठीक है।|रिकॉर्ड कर लीजिए।`,
    no: `नहीं।|जी नहीं।|ना।|नहीं जी।|बिल्कुल नहीं।|कभी नहीं।|रिकॉर्ड मत कीजिए।|मत कीजिए।|मैं सहमत नहीं हूँ।|दो|नहीं चाहता।|मैं नहीं चाहती।|मना करता हूँ।|nahin|no|मुझे आपत्ति है।|हाँ, नहीं, मत करो।|रिकॉर्डिंग नहीं चाहिए।`,
    unclear: `क्या?|क्या कहा?|समझ में नहीं आया।|सुनाई नहीं दिया।|फिर से बोलिए।|दोबारा बोलिए।|हैलो?|आवाज़ नहीं आ रही।|जी क्या?|मैं नहीं समझा।`,
    neither: `हाँ, हैलो?|हाँ, बोलिए।|हाँ?|जी, कौन?|कौन बोल रहा है?|मुझे अपॉइंटमेंट चाहिए।|हाँ, लेकिन सिर्फ़ आज।|ठीक है?|हाँ, मैं राजेश।|नमस्ते।|जी बताइए।|शायद।|क्यों?|ठीक है, पर आप कौन हैं?|देखते हैं।|
      हाँ जी, कहिए क्या काम है।|मेरे बिल के बारे में है।|बिल्कुल गलत बात है।|कल दस बजे।|हाँ, एक मिनट।|इसकी क्या ज़रूरत है?|ठीक समय पर आइए।`,
    heldYes: `जी, ठीक है।|हाँ, बिल्कुल।|हाँ, कोई बात नहीं।|जी ज़रूर।|हाँ हाँ।|जी हाँ, कर लीजिए।|ठीक है, कर लीजिए।|हाँ, कर सकते हैं।`,
    heldNo: `नहीं, मत कीजिए।|जी नहीं, धन्यवाद।|नहीं नहीं।|नहीं, मैं नहीं चाहता।`,
    heldNeither: `हाँ, किससे बात करनी है?|हाँ, मैंने बिल के लिए फोन किया।|आप रोबोट हैं?|हाँ, पर क्यों?|जी, एक मिनट रुकिए।|ठीक है तो कल मिलते हैं।|पता नहीं।|जी, शर्मा क्लिनिक।`,
  },
}

export const utterances = (text: string): string[] =>
  text
    .split('|')
    .map((one) => one.trim())
    .filter(Boolean)
