import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import type { Circumstances, Ending } from '../../../../../runtime/conversation/hearing/end-of-turn.ts'
import { InboundAudio } from '../../../../../runtime/conversation/hearing/inbound-audio.ts'
import { TurnEnd, type TurnEndOptions } from '../../../../../runtime/conversation/hearing/turn-end.ts'
import { contextOf } from '../../../../../runtime/conversation/replying/context.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'

const turnEnd = (options: Partial<TurnEndOptions> = {}) =>
  new TurnEnd({
    inbound: new InboundAudio(systemClock),
    voice: { judged: () => undefined },
    clock: systemClock,
    endingOf: () => 'plain',
    silenceMs: () => 0,
    words: { settled: () => undefined },
    ...options,
  })

const conversation = (...turns: readonly (readonly [role: 'user' | 'assistant', text: string])[]) => {
  const said = turns.map(([role, text]) => ({ role, text, startMs: 0, endMs: 0, interrupted: false }))
  return contextOf({ turns: said, tools: [], notes: [] }, 0)
}

test('a turn is kept to its silence from the last sound', async (t) => {
  const end = turnEnd({ silenceMs: () => 200 })
  const endMs = systemClock.monotonicMs()
  end.speechEnded(0, endMs)
  t.equal(await end.predictEndOfTurn(conversation(['user', 'Yes'])), 1)
  t.ok(systemClock.monotonicMs() - endMs >= 198)
  end.close()
})

test('a silence that a busy machine has not heard yet ends no turn', async (t) => {
  const judged: number[] = []
  const heard = Promise.withResolvers<void>()
  const voice = {
    judged: (untilMs: number) => {
      judged.push(untilMs)
      return heard.promise
    },
  }
  for (const dictationPauseMs of [() => undefined, () => 300]) {
    const end = turnEnd({ voice, silenceMs: () => 200, dictationPauseMs })
    end.speechEnded(5_000, systemClock.monotonicMs() - 1_000)
    const over = end.predictEndOfTurn(conversation(['user', 'Yes']))
    t.equal(await Promise.race([over, sleep(50, 'waits')]), dictationPauseMs() === undefined ? 'waits' : 1)
    heard.resolve()
    t.equal(await over, 1)
  }
  t.same(judged, [5_040, 5_236])
})

test('a turn is judged by its words, what the agent asked last, and whether the recogniser sets full stops', async (t) => {
  const asked: [string, Circumstances][] = []
  const end = turnEnd({
    endingOf: (words, circumstances) => {
      asked.push([words, circumstances])
      return 'plain'
    },
  })
  await end.predictEndOfTurn(
    conversation(['assistant', 'Hello.'], ['user', 'hi'], ['assistant', 'Who?'], ['user', 'me']),
  )
  await end.predictEndOfTurn(conversation(['user', 'Hi.'], ['user', 'me']))
  await end.predictEndOfTurn(contextOf(undefined, 0))
  t.same(asked, [
    ['me', { asked: 'Who?', punctuates: false }],
    ['me', { asked: '', punctuates: true }],
    ['', { asked: '', punctuates: false }],
  ])
})

test('a turn does not end on the words that are known while others are on their way', async (t) => {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const owed: (Promise<void> | undefined)[] = [first.promise, second.promise, undefined]
  const end = turnEnd({ words: { settled: () => owed.shift() } })
  let ended = false
  const over = end.predictEndOfTurn(contextOf(undefined, 0)).then(() => {
    ended = true
  })
  await sleep(50)
  first.resolve()
  await sleep(20)
  t.notOk(ended)
  second.resolve()
  await over
})

test('a recogniser that says that the turn is over is believed of that turn alone', async (t) => {
  const endings: (Ending | undefined)[] = []
  const end = turnEnd({
    endingOf: () => 'open',
    silenceMs: (ending) => {
      endings.push(ending)
      return 0
    },
  })
  end.speechStarted(1_000)
  end.speechEnded(2_000, systemClock.monotonicMs())
  end.turnEnded(2_000)
  await end.predictEndOfTurn(conversation(['user', 'A table for']))
  end.speechStarted(3_000)
  end.turnEnded(2_000)
  await end.predictEndOfTurn(conversation(['user', 'A table for']))
  t.same(endings, [undefined, 'open'])
})
