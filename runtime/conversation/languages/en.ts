import { type Language, wordSet } from './language.ts'

export const english: Language = {
  code: 'en',
  name: 'English',
  instruction: 'Always speak English.',
  phrases: {
    sayAgain: "Sorry, I'm having a little trouble. Could you say that again?",
    didNotCatch: "Sorry, I didn't catch that. Could you say it again?",
    cannotHear: "I'm sorry, I can't hear you at the moment. One moment, please.",
    stillThere: 'Are you still there?',
    oneMoment: 'One moment, please.',
    stillHere: 'I am still on it, one more moment.',
    bye: 'Goodbye.',
    goodbye: "I'm sorry, I'm having technical trouble and have to end the call. Please try again later.",
    transferring: "One moment, I'm putting you through.",
    takeCall: 'Would you like to take the call? Say yes or press 1. To refuse it, say no or press 2.',
    transferFailed: "I'm sorry, nobody could be reached there. How else can I help you?",
    takenOver: 'A colleague is taking over now.',
    givenBack: "I'm back with you. How can I help you?",
  },
  openEndings: wordSet(`
    a an the and or but so because if when while that which who to of for from with without at in on by about into
    my your his her our their its is are was were be am can could should would will i we you they he she um uh er
    like than as not very really just`),
  backchannels: wordSet(`
    mm mmm mhm mmhm mm-hm mm-hmm mmhmm mhmm hm hmm hmmm uh-huh uhuh uh huh uhhuh ah aha oh ooh yeah yep yup yes ok okay
    right sure alright exactly cool great nice gotcha wow er erm um uhm`),
  commonWords: wordSet(`
    the and of is are you i it that what how do does can would like have this with my your for we they when where please
    want need at not be was time there thank thanks yes hello could about open any speak english`),
  consent: {
    yes: /\b(?:yes|yeah|yep|yup|sure|okay|ok|of course|fine|certainly|absolutely|agree|go ahead|all right|alright)\b/,
    no: /\b(?:no|nope|not|don t|do not|rather you didn t|refuse|never)\b/,
    yesDespiteNo: /\b(?:no|not a) problem\b|\bdon t mind\b|\bwhy not\b|\bno objections?\b|\bno worries\b/,
  },
  answering: {
    machine: [
      /leave (?:\w+ ){0,3}(?:message|name)/,
      /(?:at|after) the (?:\w+ )?(?:tone|beep)/,
      /(?:reached|welcome to) (?:\w+ ){0,4}(?:voice ?mail|mailbox|answering)/,
      /voice ?mail (?:box|of|service)|mailbox is full|record your message/,
      /(?:is|am|are) (?:not|un) ?available (?:right now|at the moment|to take)/,
      /(?:can ?not|can t|unable to) (?:take|answer|come to) (?:your call|the phone)/,
      /(?:can|will) not be (?:reached|completed)/,
    ],
    screening: [
      /who (?:is|s) (?:this|calling)|who is it/,
      /(?:state|say|record|tell me) (?:\w+ ){0,4}your name/,
      /(?:reason|why) (?:\w+ ){0,2}(?:for (?:your call|calling)|you (?:are|re) calling)/,
      /(?:call )?screening|before i (?:try to )?(?:connect|put you through)/,
      /using a (?:\w+ ){0,3}assistant/,
    ],
    company: [
      /(?:how|what) (?:can|may) (?:i|we) (?:help|do for) you/,
      /(?:you re |you are )?speaking (?:to|with) \w+|\w+ speaking\b/,
    ],
  },
  abbreviations: ['Mr', 'Mrs', 'Ms', 'Dr', 'Prof', 'St', 'Sr', 'Jr', 'No', 'vs', 'etc', 'e.g', 'i.e', 'approx', 'Ave'],
  keys: ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'],
}
