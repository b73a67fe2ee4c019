import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { SILENT, startInstance } from '../../support/instance/instance.ts'

interface Prompts {
  document: { querySelector(selector: 'textarea'): { value: string } | null }
}
const promptHas = (words: string) =>
  (globalThis as unknown as Prompts).document.querySelector('textarea')?.value.includes(words) === true

t.test(
  'the keyboard alone goes to a screen, an agent and a new agent of a trade',
  { skip: withoutChromium },
  async (t) => {
    const { url } = await startInstance(t, SILENT)
    const open = await startBrowsers(t)
    const ada = userOf(url, 'ada@example.com')
    await ada.enter('Ada Lovelace')
    const { agent_id } = await ada.ask('POST', '/agents', { agent_name: 'Night desk', system_prompt: 'You answer.' })
    const { context, page, faults, strays } = await open(url)
    await context.addCookies(ada.cookies())
    await page.goto(`${url}/console/`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const { keyboard } = page
    const dialog = page.getByRole('dialog')

    await keyboard.press('?')
    await dialog.getByText('Go to a screen, an agent, a campaign or a call').waitFor()
    t.same(await axeFaults(page), [])
    await keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    await keyboard.press('Control+k')
    await dialog.getByRole('option', { name: 'Home Screen', selected: true }).waitFor()
    t.same(await axeFaults(page), [])
    await keyboard.type('desk night')
    await dialog.getByRole('option', { name: /Night desk/, selected: true }).waitFor()
    await keyboard.press('Enter')
    await page.waitForURL(`${url}/console/agents/${agent_id}`)
    await page.getByRole('heading', { name: 'Night desk' }).waitFor()

    await keyboard.press('Control+k')
    await keyboard.type('nothing of the kind')
    await dialog.getByText('Nothing has this name').waitFor()
    await keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    await keyboard.press('Control+k')
    await keyboard.type('new agent')
    await keyboard.press('Enter')
    await dialog.getByLabel('Begin with').selectOption('bookings')
    await dialog.getByLabel('Language').selectOption('fr')
    await page.waitForFunction(promptHas, 'coiffeur Salon Lumen', { polling: 50 })
    await dialog.getByRole('button', { name: 'Create agent' }).click()
    await page.getByRole('heading', { name: 'Rendez-vous' }).waitFor()
    const agents = await ada.ask<{ agent_name: string; language: string }[]>('GET', '/agents')
    t.match(
      agents.find(({ agent_name }) => agent_name === 'Rendez-vous'),
      { language: 'fr' },
    )
    t.same(faults, [], 'nothing broke')
    t.same(strays, [], 'no request left the instance')
  },
)
