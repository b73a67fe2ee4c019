import { type Language, overWords, phraseList, wordSet } from './language.ts'

/** As it is spoken in Brazil; Portugal is a region of its own. */
export const portuguese: Language = {
  code: 'pt',
  name: 'Português',
  writing: 'spaced',
  orders: {
    language: 'Responda sempre em português, com tratamento formal, salvo indicação em contrário.',
    sayAi: 'Se perguntarem se você é uma pessoa, diga que é uma inteligência artificial.',
  },
  phrases: {
    sayAgain: 'Desculpe, tive um problema. Pode repetir, por favor?',
    didNotCatch: 'Desculpe, não entendi. Pode repetir, por favor?',
    cannotHear: 'Desculpe, não estou conseguindo ouvir você. Não desligue, por favor.',
    stillThere: 'Você ainda está na linha?',
    oneMoment: 'Um momento, por favor.',
    stillHere: 'Já estou terminando, só mais um instante.',
    bye: 'Até logo.',
    goodbye:
      'Sinto muito, estou com um problema técnico e preciso encerrar a ligação. Tente novamente mais tarde, por favor.',
    transferring: 'Só um momento, vou transferir a ligação.',
    takeCall: 'Quer atender a ligação? Diga sim ou digite 1. Para recusar, diga não ou digite 2.',
    transferFailed: 'Não consegui falar com ninguém lá. Posso ajudar de outra forma?',
    almostOver: 'Nosso tempo está acabando: a ligação vai terminar em alguns segundos.',
    cannotSay: 'Desculpe, sobre isso não posso dizer nada.',
    disclosure: 'Você está falando com um assistente de inteligência artificial.',
    recordingNotice: 'Esta ligação está sendo gravada para melhorar nosso atendimento. Se não quiser, é só me dizer.',
    recordingConsent: 'Posso gravar esta ligação? Diga sim ou não, ou digite 1 para sim e 2 para não.',
    voicemail:
      'Olá, aqui é um assistente de inteligência artificial. Queríamos falar com você e tentaremos mais tarde. Até logo.',
    abandoned:
      'Olá, esta é uma chamada automática de {{workspace}}. Queríamos falar com você, mas no momento ninguém está disponível. Para falar conosco ou não receber mais chamadas, ligue para {{from_number}}. Até logo.',
  },
  informal: {
    order: 'Responda sempre em português, com tratamento informal.',
    phrases: { stillThere: 'Ainda está aí?', bye: 'Tchau, até mais.' },
  },
  regions: {
    BR: {
      order: 'Responda sempre em português do Brasil, com tratamento formal, salvo indicação em contrário.',
      informalOrder: 'Responda sempre em português do Brasil, com tratamento informal.',
    },
    PT: {
      order: 'Responde sempre em português europeu, com tratamento formal, salvo indicação em contrário.',
      informalOrder: 'Responde sempre em português europeu e trata o interlocutor por tu.',
      phrases: {
        sayAgain: 'Peço desculpa, houve um problema. Pode repetir, por favor?',
        didNotCatch: 'Peço desculpa, não percebi. Pode repetir, por favor?',
        cannotHear: 'Peço desculpa, neste momento não estou a ouvir nada. Não desligue, por favor.',
        stillThere: 'Ainda está em linha?',
        stillHere: 'Estou quase a terminar, só mais um momento.',
        bye: 'Com licença, até logo.',
        almostOver: 'O nosso tempo está a acabar: a chamada vai terminar dentro de segundos.',
        goodbye: 'Lamento, estou com um problema técnico e tenho de terminar a chamada. Tente mais tarde, por favor.',
        transferring: 'Um momento, vou passar a chamada.',
        takeCall: 'Quer atender a chamada? Diga sim ou prima 1. Para recusar, diga não ou prima 2.',
        transferFailed: 'Não consegui contactar ninguém. Posso ajudar de outra forma?',
        disclosure: 'Está a falar com um assistente de inteligência artificial.',
        recordingNotice: 'Esta chamada está a ser gravada para melhorar o nosso serviço. Se não o desejar, diga-me.',
        recordingConsent: 'Posso gravar esta chamada? Diga sim ou não, ou prima 1 para sim e 2 para não.',
        voicemail:
          'Olá, fala um assistente de inteligência artificial. Queríamos falar consigo e voltaremos a ligar mais tarde. Até logo.',
        abandoned:
          'Olá, esta é uma chamada automática de {{workspace}}. Queríamos falar consigo, mas de momento ninguém está disponível. Para nos contactar ou não receber mais chamadas, ligue para {{from_number}}. Até logo.',
      },
      informal: {
        sayAgain: 'Desculpa, houve um problema. Podes repetir, por favor?',
        didNotCatch: 'Desculpa, não percebi. Podes repetir, por favor?',
        cannotHear: 'Desculpa, neste momento não estou a ouvir nada. Não desligues, por favor.',
        stillThere: 'Ainda estás aí?',
        goodbye: 'Lamento, estou com um problema técnico e tenho de terminar a chamada. Tenta mais tarde, por favor.',
        takeCall: 'Queres atender a chamada? Diz sim ou prime 1. Para recusar, diz não ou prime 2.',
        transferFailed: 'Não consegui contactar ninguém. Posso ajudar-te de outra forma?',
        disclosure: 'Estás a falar com um assistente de inteligência artificial.',
      },
    },
  },
  openEndings: wordSet(`
    nome_é número_é apelido_é gostaria_de
    o a os as uns umas de do da dos das em no na nos nas ao à aos às com sem por pelo pela pelos para pra entre desde teu e ou mas
    porque se enquanto me te lhe ahn ã hã num numa neste nesse nesta nessa dum seus nossos cada contra quero queria preciso`),
  looseEndings: wordSet(`
    um uma até sobre meu minha meus minhas tua seu sua nosso nossa que quando como eu é são era está muito mais não hum né tipo
    então tenho assim quer somos`),
  holdOns: phraseList(
    'deixa eu ver, deixe me ver, deixa eu pensar, deixe me pensar, vamos ver, espera, espere, um momento, um segundo, um instante, quer dizer, não espera',
  ),
  asksOpenly:
    /^(?:\S+ )?(?:que|qual|quais|como|quando|onde|aonde|quem|quanto|quanta|quantos|quantas)\b|\b(?:diga|dizer|descrever|explicar)\b/u,
  dictation: {
    digits: wordSet('zero um uma dois duas três quatro cinco seis meia sete oito nove duplo'),
    asksNumber: /\b(?:numero|codigo|senha|pin|cep|cpf|digitos|iban)\b/u,
    asksPhone: /\b(?:telefone|celular|telemovel)\b/u,
    phoneDigits: 10,
    asksSpelling: /\b(?:soletrar|soletre|soletra|escreve)\b/u,
  },
  backchannels: phraseList(`
    mm, mmm, mhm, mm-hm, hm, hmm, uhum, aham, hum, hã, ah, aha, oh, sim, é, ok, okay, tá, certo, claro, bem, bom, isso, exato, exatamente,
    perfeito, entendi, beleza, pois, já, legal, né, está bem, isso mesmo, com certeza, tudo bem, percebi, sei, ótimo, combinado, joia, fixe`),
  commonWords: wordSet(`
    o os as dos das que e é são um uma para com não sim como quando onde quanto qual vocês você tem têm posso quero queria
    obrigado obrigada olá bom boa dia em por favor meu minha seu está estão também mais até horas custa fica português oi alô
    tudo preciso gostaria eu sempre sábado a`),
  consent: {
    yes: phraseList(`
      sim, claro, claro que sim, com certeza, está bem, tá bom, tá bem, tá, ok, okay, aceito, concordo, à vontade, beleza, perfeito,
      isso mesmo, combinado, fechado, de acordo, autorizo, eu autorizo, força, pode sim, pode ser, pode gravar, pode gravar sim,
      podem gravar, não tem problema, não há problema, sem problema, sem problemas, nenhum problema, não me importo, não faz mal,
      não vejo problema, não vejo problema nenhum, tem problema não, tem não, por mim tudo bem, por mim pode, certamente, estou de acordo,
      dou o meu consentimento, consinto, pode ficar à vontade, fique à vontade, tranquilo, não me incomoda, tudo certo, com todo o gosto`),
    alone: phraseList('pode, pode pode, certo, tudo bem, isso, pode claro, exato, bem, é claro, sim sim pode'),
    rhetorical: phraseList(
      'por que não, porque não, e por que não, claro por que não, sim por que não, sim porque não',
    ),
    beside: phraseList(`
      por favor, obrigado, obrigada, muito obrigado, muito obrigada, pode, pode gravar, senhor, senhora, a ligação, a chamada, esta ligação,
      esta chamada, essa ligação, gravar, por mim, é claro, tudo bem, sem dúvida, não tem problema`),
    lead: phraseList('ah, oh, hum, hm, bom, bem, então, olha, é, ai, ahn, hã'),
    no: phraseList(
      'não, nunca, jamais, nem pensar, recuso, de jeito nenhum, de maneira nenhuma, negativo, prefiro que não, melhor não',
    ),
    refuses: overWords([
      /\bprefir\w+ (?:que )?não\b|\bmelhor não\b|\bde (?:jeito|maneira|modo) (?:nenhum|nenhuma|algum)\b|\bnem pensar\b|\brecuso\b|\bnegativo\b|\bclaro que não\b/,
      /\bnão (?:quero|queria|desejo|autorizo|aceito|concordo|pode|podem|grave|gravem|gostaria|permito|estou de acordo|consinto)\b|\bsem gravar\b|\bsem gravação\b|\boponho me\b|\bme oponho\b|\bé claro que não\b|\bsim não\b/,
      /\bnão obrigad[oa]\b/,
    ]),
    unclear: overWords([
      /^(?:como|como assim|desculpe|desculpa|perdão|oi|hã|o quê|o que|quê|diga|como disse|como é|perdão como)$/,
      /\bnão (?:\w+ )?(?:entendi|percebi|ouvi|compreendi|entendo|percebo|ouço|escutei|escuto|ouvir|estou ouvindo|estou a ouvir)\b/,
      /\b(?:pode|poderia|podia|podes) repetir\b|\bo que (?:é que )?(?:disse|você disse|falou)\b|\brepete\b|\brepita\b/,
    ]),
    one: phraseList('um, o um, número um, tecla um, 1'),
    two: phraseList('dois, o dois, número dois, tecla dois, 2'),
    abroad: {
      yes: phraseList('sim, sim claro, claro que sim, sim obrigado, sim obrigada'),
      no: phraseList('não, não obrigado, não obrigada'),
    },
  },
  answering: {
    tone: /(?:apos|depois d[oe]|a seguir ao|ao ouvir) (?:o )?(?:sinal|bipe|bip|tom|toque)/,
    machine: [
      /(?<!(?:que lhe|eu|quer|gostaria de) )(?:deix[ea]|deixar) (?:\w{1,30} ){0,3}(?:mensagem|recado)(?! para (?:ele|ela))/,
      /caixa postal|correio de voz|secretaria eletronica|caixa de mensagens|gravar (?:\w{1,30} )?mensagem|(?<!temos |tenho )atendedor|voice ?mail|grave (?:a |o )?(?:sua |seu )?(?:mensagem|recado)/,
      /(?:numero|telefone|telemovel|pessoa|assinante|cliente) (?:\w{1,30} ){0,8}(?:nao (?:esta|se encontra) (?:disponivel|atribuido)|desligado|fora da area|nao existe)/,
      /nao esta atribuido|fora do (?:nosso )?horario de (?:atendimento|funcionamento|expediente)/,
    ],
    full: [/caixa (?:\w{1,30} ){0,3}cheia|nao (?:pode|aceita) (?:\w{1,30} ){0,2}mais mensagens/],
    hints: [
      /nao (?:esta|estou|estamos|se encontra) (?:\w{1,30} ){0,2}(?:disponivel|em casa|no escritorio|aqui)?|nao (?:posso|podemos|consigo) atender|saiu/,
      /(?:voce )?ligou para/,
      /(?:te|lhe) (?:ligo|ligarei|retorno|ligaremos)|\b(?:ligarei|ligaremos)\b|retornarei|retornaremos|assim que (?:puder|possivel|pudermos)/,
      /(?:escritorio|loja|clinica|consultorio) (?:\w{1,30} ){0,3}(?:fechad[oa]|encerrad[oa])|(?:estamos|estao) (?:fechados|encerrados)/,
      /nosso horario (?:de \w{1,30} )?e\b/,
      /\bdeix\w{1,4} (?:\w{1,30} ){0,2}nome/,
    ],
    speaksOfOthers:
      /\b(?:ele|ela|o senhor \w{1,30}|a senhora \w{1,30}) (?:nao )?(?:esta|saiu|foi|volta)\b|^(?:\w{1,30} ){0,3}nao esta\b|\bsaiu\b/,
    menu: [
      /(?:digite|pressione|tecle|prima|marque) (?:\w{1,30} ){0,3}(?:\d|um|dois|tres|quatro|zero|cardinal|asterisco|sustenido|tecla)/,
      /menu principal|seguintes opcoes|opcoes a seguir/,
      /(?:chamada|ligacao) (?:\w{1,30} ){0,4}gravada/,
      /(?:atendentes|operadores|linhas|assistentes) (?:\w{1,30} ){0,4}ocupad[oa]s|aguarde (?:na|em) linha|permaneca na linha/,
    ],
    screening: [
      /(?:diga|indique|informe|grave|diz) (?:\w{1,30} ){0,3}(?:o )?(?:seu|teu) nome|(?:seu|teu) nome e o motivo/,
      /motivo da (?:sua |tua )?(?:chamada|ligacao)|porque (?:esta a ligar|esta ligando)/,
      /quem deseja|da parte de quem|filtro de (?:chamadas|ligacoes)|nao e um robo/,
    ],
    offers:
      /(?<!(?:se|nao) (?:\w{1,30} ){0,3})(?:(?:quer|deseja|posso|gostaria de|queria) (?:\w{1,30} ){0,5}(?:mensagem|recado)|(?:eu )?(?:anoto|deixo|dou) (?:\w{1,30} ){0,2}recado)/,
    asks: /quem (?:fala|esta falando|e)\b|com quem (?:falo|estou)|quem esta a falar/,
    introduces: /\b(?:aqui e|fala|meu nome e|sou)\b/,
    company: [
      /(?:em que|como) (?:posso|podemos) (?:lhe |o |a |te )?(?:ajudar|ser util)/,
      /(?:quem fala|fala) (?:aqui )?e \w{1,30}/,
    ],
  },
  doNotCall: [
    /\bnao (?:me |nos )?(?:liguem?|telefonem?|voltem? a ligar|chamem?)(?: me)? (?:mais|nunca mais|de novo|outra vez)\b|\bnao (?:me )?voltem? a ligar\b|\bparem? de (?:me |nos )?(?:ligar|telefonar)\b|\bnao quero (?:receber )?mais (?:chamadas|ligacoes)\b/,
    /\b(?:tirem?|retirem?|removam?|apaguem?|tire) (?:\w{1,30} ){0,3}(?:meu (?:numero|nome|telefone|contacto)|lista|base de dados)\b|\bnao (?:me )?perturbe\b/,
  ],
  saysAi: /\b(?:ia|inteligencia artificial|assistente virtual|atendente virtual|robo|robot|chamada automatica)\b/,
  reading: {
    marks: { at: 'arroba', dot: 'ponto', slash: 'barra', dash: 'hífen', underscore: 'sublinhado', plus: 'mais' },
    dollars: { one: 'dólar', other: 'dólares' },
    pounds: { one: 'libra', other: 'libras' },
    money: '{whole} e {hundredths}',
    clock: { full: '', minutes: '' },
    inFull: {
      'Sr.': 'senhor',
      'Sra.': 'senhora',
      'Dr.': 'doutor',
      'Dra.': 'doutora',
      'p. ex.': 'por exemplo',
      'p.ex.': 'por exemplo',
      'tel.': 'telefone',
      'Av.': 'avenida',
      'aprox.': 'aproximadamente',
      nº: 'número',
    },
  },
  abbreviations: [
    'Sr',
    'Sra',
    'Srta',
    'Dr',
    'Dra',
    'Prof',
    'Exmo',
    'Av',
    'R',
    'tel',
    'etc',
    'p. ex',
    'p.ex',
    'aprox',
    'nº',
    'Eng',
    'Exma',
    'art',
    'pág',
    'Lda',
    'min',
    'D',
  ],
  dottedOrdinals: false,
}
