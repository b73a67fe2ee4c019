import t from 'tap'
import { loadPrices, makePrices, type PriceTable } from '../../../../runtime/call/cost.ts'
import { PatchbayError } from '../../../../runtime/lib/errors.ts'

const NOTHING = { llmInputTokens: 0, llmOutputTokens: 0, sttSeconds: 0, ttsCharacters: 0 }
const SOME = { llmInputTokens: 1_000_000, llmOutputTokens: 500_000, sttSeconds: 90, ttsCharacters: 2_000 }
const NOON = new Date('2026-02-01T12:00:00Z')

const registry = { plugins: [], servedElsewhere: () => false }
const shipped: PriceTable = {
  llm: {
    acme: {
      small: [
        { from: '2026-02-01', inputPerMillionTokens: 1, outputPerMillionTokens: 2 },
        { from: '2025-01-01', inputPerMillionTokens: 10, outputPerMillionTokens: 20 },
      ],
    },
  },
  stt: { acme: { '*': [{ from: '2025-01-01', perMinute: 0.02 }] } },
  tts: {
    acme: {
      'voice-*': [{ from: '2025-01-01', perMillionCharacters: 10 }],
      'voice-2-*': [{ from: '2025-01-01', perMillionCharacters: 30 }],
    },
  },
  platform: [{ from: '2025-01-01', perMinute: 0 }],
}
const agent = {
  llm: { provider: 'acme', model: 'small' },
  stt: { provider: 'acme', model: 'ears' },
  tts: { provider: 'acme', voice: 'voice-2-ada' },
}

t.test('each stage costs what its price says, at the price of the day', async (t) => {
  const prices = makePrices(shipped, {}, registry)
  t.same(prices.costOf(agent, SOME, NOON), { llmUsd: 2, sttUsd: 0.03, ttsUsd: 0.06 })
  t.equal(prices.costOf(agent, SOME, new Date('2026-01-31T23:59:59Z')).llmUsd, 20)
  t.equal(prices.costOf(agent, SOME, new Date('2024-12-31T00:00:00Z')).llmUsd, null, 'no price held then')
})

t.test('a recogniser that follows the caller’s language costs its price for that', async (t) => {
  const dated = (price: object) =>
    makePrices({ stt: { acme: { ears: [{ from: '2025-01-01', perMinute: 0.02, ...price }] } } }, {}, registry)
  const usdOf = (price: object, language: string) => dated(price).costOf({ ...agent, language }, SOME, NOON).sttUsd
  t.equal(usdOf({ perMinuteMulti: 0.04 }, 'multi'), 0.06)
  t.equal(usdOf({ perMinuteMulti: 0.04 }, 'de'), 0.03)
  t.equal(usdOf({}, 'multi'), 0.03)
  const shippedPrices = await loadPrices(registry)
  const deepgram = { stt: { provider: 'deepgram', model: 'nova-3' }, language: 'multi' }
  t.equal(
    shippedPrices.costOf(deepgram, { ...NOTHING, sttSeconds: 60 }, new Date('2026-11-29T00:00:00Z')).sttUsd,
    0.0058,
  )
})

t.test('sound costs its own price, heard, heard again and spoken; without one the cost is not known', async (t) => {
  const text = {
    from: '2026-01-01',
    inputPerMillionTokens: 4,
    cachedInputPerMillionTokens: 1,
    outputPerMillionTokens: 16,
  }
  const sound = { audioInputPerMillionTokens: 32, cachedAudioPerMillionTokens: 2, audioOutputPerMillionTokens: 64 }
  const used = {
    ...NOTHING,
    llmInputTokens: 1_000_000,
    llmCachedReadTokens: 500_000,
    llmAudioInputTokens: 400_000,
    llmCachedAudioTokens: 300_000,
    llmOutputTokens: 200_000,
    llmAudioOutputTokens: 150_000,
  }
  const of = (price: object) => makePrices({ llm: { acme: { small: [price] } } } as PriceTable, {}, registry)
  // Text: 400,000 fresh, 200,000 again, 50,000 written. Sound: 100,000 fresh, 300,000 again, 150,000 spoken.
  const usd = 0.4 * 4 + 0.2 * 1 + 0.05 * 16 + 0.1 * 32 + 0.3 * 2 + 0.15 * 64
  const { llmUsd } = of({ ...text, ...sound }).costOf(agent, used, NOON)
  t.ok(llmUsd !== null && Math.abs(llmUsd - usd) < 1e-9, `${llmUsd} of ${usd}`)
  t.equal(of(text).costOf(agent, used, NOON).llmUsd, null)
})

t.test('what has no price costs null, and what was not used costs nothing', async (t) => {
  const prices = makePrices(shipped, {}, registry)
  const other = { ...agent, llm: { provider: 'acme', model: 'large' } }
  t.equal(prices.costOf(other, SOME, NOON).llmUsd, null)
  t.same(prices.costOf(other, NOTHING, NOON), { llmUsd: 0, sttUsd: 0, ttsUsd: 0 })
  t.same(prices.costOf({}, SOME, NOON), { llmUsd: null, sttUsd: null, ttsUsd: null })
})

t.test('the operator’s prices go first, and alone count where another server answers', async (t) => {
  const own: PriceTable = {
    llm: { acme: { small: [{ from: '2026-01-01', inputPerMillionTokens: 3, outputPerMillionTokens: 0 }] } },
    platform: [{ from: '2026-01-01', perMinute: 0.05 }],
  }
  const prices = makePrices(shipped, own, registry)
  t.equal(prices.costOf(agent, SOME, NOON).llmUsd, 3)
  t.equal(prices.costOf(agent, SOME, NOON).sttUsd, 0.03)
  t.equal(prices.platformUsdPerMinute(NOON), 0.05)
  const elsewhere = makePrices(shipped, own, { ...registry, servedElsewhere: () => true })
  t.same(elsewhere.costOf(agent, SOME, NOON), { llmUsd: 3, sttUsd: null, ttsUsd: null })
})

t.test('the shipped table is valid, and what runs offline is free', async (t) => {
  const prices = await loadPrices(registry)
  const offline = {
    llm: { provider: 'offline', model: 'extractive' },
    stt: { provider: 'sim', model: 'default' },
    tts: { provider: 'offline', voice: 'en-us' },
  }
  t.same(prices.costOf(offline, SOME, NOON), { llmUsd: 0, sttUsd: 0, ttsUsd: 0 })
  t.equal(prices.platformUsdPerMinute(NOON), 0)
})

t.test('a table that can’t be used stops the start and says why', async (t) => {
  const folder = t.testdir({ 'prices.json': JSON.stringify({ llm: { acme: { small: [{ from: 'soon' }] } } }) })
  const failure = await loadPrices(registry, `${folder}/prices.json`).catch((error: unknown) => error)
  t.ok(failure instanceof PatchbayError && failure.code === 'configuration')
  t.match(failure, { message: /prices\.json" can't be used: \/llm\/acme\/small\/0/ })
})

t.test('cached input costs what reading and writing a cache costs, and fresh input the rest', (t) => {
  const llm = [
    {
      from: '2025-01-01',
      inputPerMillionTokens: 1,
      outputPerMillionTokens: 5,
      cachedInputPerMillionTokens: 0.1,
      cacheWritePerMillionTokens: 1.25,
    },
  ]
  const prices = makePrices({ llm: { acme: { small: llm } } }, {}, registry)
  const used = { ...NOTHING, llmInputTokens: 1_000_000, llmCachedReadTokens: 800_000, llmCacheWriteTokens: 100_000 }
  t.equal(Math.round((prices.costOf(agent, used, NOON).llmUsd ?? 0) * 1_000), 305)
  t.equal(
    prices.costOf(agent, { ...NOTHING, llmInputTokens: 1_000_000 }, NOON).llmUsd,
    1,
    'nothing is known of a cache',
  )
  t.end()
})
