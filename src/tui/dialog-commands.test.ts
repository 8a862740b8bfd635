import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { openUser } from '../../fixtures/kit/user.ts'
import { splitWords } from '../cli/split-words.ts'
import { fakeLink, gone } from './cockpit.testkit.tsx'
import { cases, type Subject } from './dialog-cases.testkit.ts'
import { type DialogStage, hostOf, openStage, shownDialog } from './dialog-stage.testkit.ts'
import { startDaemon } from './shell/commands.ts'
import { fetchHealth } from './shell/queries.ts'

// @slow every command that a dialog names is run

let stage: DialogStage
beforeAll(async () => {
  if (!existsSync(PROGRAM)) throw new Error('dist/ is not built: npm run build')
  stage = await openStage(process.env.PATH)
  // The file that the case of an attachment sends.
  writeFileSync(join(stage.folder, 'brief one.txt'), 'a cat')
})
afterAll(() => stage.close())

/** Titles of the dialogs whose command was run. */
const covered = new Set<string>()

/** What differs between two subjects that the same was done to. */
function alike(told: unknown): unknown {
  const text = JSON.stringify(told, (name, value) => (name.endsWith('_ms') ? 0 : value)) ?? 'null'
  return JSON.parse(
    text
      .replaceAll(/\b([a-z]+)_[0-9a-f]{16}\b/g, '$1')
      .replaceAll(/somebody-\d+/g, 'somebody')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
      .replaceAll(/0x[0-9a-f]{40,}/gi, '0x'),
  )
}

/** What came of something, to its subject and in the log of what administrators did. */
async function outcome({ says }: Subject, work: () => Promise<unknown>): Promise<unknown> {
  const [before, acts] = [alike(await says?.()), await stage.acts()]
  await work()
  const told = [alike(await says?.()), await stage.actsSince(acts)]
  expect(told).not.toEqual([before, []])
  return told
}

test.each(cases)(
  '$title: the command of the dialog does in a shell what the dialog does',
  async ({ open, values, undo }) => {
    const first = await open(stage)
    covered.add(first.spec.title)
    const byDialog = await outcome(first, async () => {
      const sent = await first.spec.send(values)
      expect(sent.ok ? '' : sent.problem.sentence).toBe('')
    })
    await undo?.(stage)
    const second = await open(stage)
    expect(second.spec.title).toBe(first.spec.title)
    expect(await outcome(second, () => stage.shell(second.spec.command(values), second.as))).toEqual(byDialog)
  },
)

/** With which words the daemon of a home was started. */
function launchOf(home: string) {
  const [file = ''] = globSync('.local/state/**/launch.json', { cwd: home })
  const { port, logLevel } = JSON.parse(readFileSync(`${home}/${file}`, 'utf8'))
  return { port, logLevel }
}

test('the command of the dialog that starts the daemon starts it in a shell, as the dialog does', async () => {
  const user = await openUser()
  try {
    const started: unknown[] = []
    // How it was started is kept: the usual port is somebody else's, perhaps.
    await user.json('up', '--port', '0', '--log-level', 'warn')
    const commandLine = {
      ...stage.commandLine,
      run: async (words: readonly string[]) => ({ ok: true, value: (await user.souk(...words)).out }) as const,
    }
    const host = hostOf(Object.assign(fakeLink(), { broken: gone }), commandLine)
    const health = host.queries.open('health', fetchHealth(host.link), host.refreshMs)
    const end = health.watch(() => undefined)
    await expect.poll(() => health.get().problem?.kind).toBe('gone')
    startDaemon(host)
    end()
    const spec = shownDialog(host)
    covered.add(spec.title)
    for (const start of [() => spec.send({}), () => user.souk(...splitWords(spec.command({})).slice(1))]) {
      await user.json('down')
      expect((await user.json('status')).state).not.toBe('running')
      await start()
      const { state } = await user.json('status')
      started.push([state, launchOf(user.home)])
    }
    expect(started).toEqual([0, 1].map(() => ['running', { port: 0, logLevel: 'warn' }]))
  } finally {
    await user.close()
  }
})

test('there is no dialog without such a case', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url))
  const sources = globSync('**/*.{ts,tsx}', {
    cwd: folder,
    exclude: (name) => /\.(?:test|testkit)\./.test(String(name)),
  })
  const texts = sources.map((name) => readFileSync(`${folder}${name}`, 'utf8'))
  // A specification is an object that has a title and, further down, a verb.
  const specs = texts.flatMap((text) => text.split(/^ *title: /m).slice(1)).filter((part) => /^ *verb: /m.test(part))
  const titles = specs.flatMap((part) =>
    [...part.slice(0, part.indexOf('\n')).matchAll(/'([^']+)'/g)].map(([, one]) => one),
  )
  expect(titles.length).toBeGreaterThan(15)
  expect([...covered].filter((title) => !title.includes(' × ')).toSorted()).toEqual([...new Set(titles)].toSorted())
})
