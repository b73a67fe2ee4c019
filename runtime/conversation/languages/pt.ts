import { type Language, wordSet } from './language.ts'

export const portuguese: Language = {
  code: 'pt',
  name: 'Português',
  instruction: 'Responda sempre em português.',
  phrases: {
    sayAgain: 'Desculpe, houve um problema. Pode repetir, por favor?',
    didNotCatch: 'Desculpe, não entendi. Pode repetir, por favor?',
    cannotHear: 'Desculpe, neste momento não consigo ouvir. Um momento, por favor.',
    stillThere: 'Ainda está na linha?',
    oneMoment: 'Um momento, por favor.',
    stillHere: 'Ainda estou aqui, só mais um momento.',
    bye: 'Até logo.',
    goodbye: 'Lamento, tenho um problema técnico e preciso encerrar a chamada. Por favor, tente mais tarde.',
    transferring: 'Um momento, vou transferir a chamada.',
    takeCall: 'Quer aceitar a chamada? Diga sim ou prima 1. Para recusar, diga não ou prima 2.',
    transferFailed: 'Lamento, não foi possível falar com ninguém. Em que mais posso ajudar?',
    takenOver: 'Um colega vai atender a sua chamada agora.',
    givenBack: 'Estou de volta. Em que posso ajudar?',
  },
  openEndings: wordSet(`
    o a os as um uma uns umas de do da dos das em no na nos nas ao à aos às com sem por pelo pela para pra entre até desde
    sobre meu minha meus minhas teu tua seu sua nosso nossa e ou mas porque que se quando enquanto como eu é são era está
    muito mais não me te lhe hum ahn né tipo`),
  backchannels: wordSet(`
    mm mmm mhm mm-hm hm hmm uhum aham ah aha oh sim é ok okay tá certo claro bem bom isso exato exatamente perfeito entendi
    beleza pois já legal né`),
  commonWords: wordSet(`
    o os as do da dos das de que e é são um uma para com não sim como quando onde quanto qual vocês você tem têm posso quero queria
    obrigado obrigada olá bom boa dia em no na por favor meu minha seu está estão também mais até horas custa fica português`),
  consent: {
    yes: /\b(?:sim|claro|pode(?: ser)?|certo|com certeza|tudo bem|esta bem|ta bom|ok|okay|aceito|concordo|a vontade|pois sim)\b/,
    no: /\b(?:nao|nunca|jamais|nem pensar|recuso)\b/,
    yesDespiteNo: /\bnao (?:tem|ha) problema\b|\bsem problemas?\b|\bpor que nao\b|\bporque nao\b|\bnao me importo\b/,
  },
  answering: {
    machine: [
      /(?:deix[ea]|deixar) (?:\w{1,30} ){0,3}(?:mensagem|recado)(?! para (?:ele|ela))/,
      /apos o (?:sinal|bipe|tom)/,
      /caixa postal|correio de voz|secretaria eletronica|caixa de mensagens/,
      /(?:numero|telefone|pessoa|assinante|cliente) (?:\w{1,30} ){0,8}(?:nao (?:esta|se encontra) disponivel|desligado|fora da area)/,
    ],
    full: [/caixa (?:\w{1,30} ){0,3}cheia|nao (?:pode|aceita) (?:\w{1,30} ){0,2}mais mensagens/],
    hints: [
      /nao (?:esta|estou|estamos|se encontra) (?:\w{1,30} ){0,2}(?:disponivel|em casa|no escritorio|aqui)?|nao posso atender|saiu/,
      /(?:voce )?ligou para/,
      /(?:te|lhe) (?:ligo|ligarei|retorno)|retornarei|assim que (?:puder|possivel)/,
    ],
    menu: [
      /(?:pressione|digite|tecle|marque) (?:\w{1,30} ){0,4}(?:\d|um|dois|tres|quatro|zero|asterisco)/,
      /menu principal|seguintes opcoes/,
      /(?:ligacao|chamada) (?:\w{1,30} ){0,5}gravada/,
      /(?:atendentes|operadores|linhas) (?:\w{1,30} ){0,4}ocupad[oa]s|aguarde (?:\w{1,30} ){0,2}(?:na linha|um momento)/,
    ],
    screening: [/diga (?:o )?seu nome|motivo da (?:sua )?(?:ligacao|chamada)/],
    offers: /(?:quer|deseja|gostaria de|posso) (?:\w{1,30} ){0,5}(?:mensagem|recado)/,
    asks: /quem (?:fala|esta falando|gostaria|e)\b|com quem eu? falo/,
    introduces: /\b(?:sou|aqui e|meu nome e)\b/,
    company: [
      /(?:em que|como) (?:posso|podemos) (?:lhe |o |a |te )?(?:ajudar|ser util)/,
      /(?:quem fala|fala) (?:aqui )?e \w{1,30}/,
    ],
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
  ],
  keys: ['zero', 'um', 'dois', 'três', 'quatro', 'cinco', 'seis', 'sete', 'oito', 'nove'],
}
