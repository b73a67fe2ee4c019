import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { translator } from '../../../web/console/src/language/answers.ts'
import { DICTIONARIES } from '../../../web/console/src/language/dictionaries.ts'

t.test('answers of the API are said in German, names and figures in their places', async (t) => {
  const said = translator((await DICTIONARIES.de()).answers)
  t.equal(said('Agent not found'), 'Den Agenten gibt es nicht')
  const missing = "Azure Speech can't be used: AZURE_SPEECH_KEY is not set; set it to your key"
  t.match(
    said(`${missing}, or AZURE_SPEECH_BASE_URL to use another server and restart`),
    /^Azure Speech .* AZURE_SPEECH_BASE_URL/,
  )
  t.match(said(`${missing} and restart`), /^Azure Speech ist nicht nutzbar: AZURE_SPEECH_KEY ist nicht gesetzt/)
  t.match(
    said('Twilio refused the key (401); check TWILIO_AUTH_TOKEN and what it may be used for'),
    /^Twilio lehnte den Schlüssel ab \(401\)/,
  )
  t.equal(said('Something that nobody translated'), undefined)
  t.equal(said('constructor'), undefined)
})

t.test('signs of patterns in a sentence stand for themselves', async (t) => {
  const said = translator({ '{n} (of {all})? [*]': '{all}/{n}', plain: 'schlicht' })
  t.equal(said('3 (of 5)? [*]'), '5/3')
  t.equal(said('3 of 5'), undefined)
  t.equal(said('plain'), 'schlicht')
})

t.test('what each provider is, is said in each language', async (t) => {
  const plugins = join(import.meta.dirname, '../../../plugins')
  const descriptions: string[] = []
  for (const name of await readdir(plugins)) {
    const text = await readFile(join(plugins, name, 'plugin.json'), 'utf8').catch(() => undefined)
    if (text === undefined) continue
    const { description, provides } = JSON.parse(text)
    if (provides.stt ?? provides.llm ?? provides.tts) descriptions.push(description)
  }
  t.ok(descriptions.length > 3)
  for (const [tag, load] of Object.entries(DICTIONARIES)) {
    const said = translator((await load()).answers)
    for (const description of descriptions) t.ok(said(description), `${tag}: ${description}`)
  }
})
