import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { runLine, shellWords } from '../fixtures/kit/command-line.testkit.ts'
import { globalOptions } from '../src/cli/globals.ts'
import { membersOf } from '../src/cli/option-shape.ts'
import { groups } from '../src/cli/run/groups.ts'
import { kebab } from '../src/text/text.ts'
import { entries } from './index.ts'

/* Every command there is: its place, its help and its refusals. */

const run = (line: string) => runLine({ entries, groups }, shellWords(line).slice(1))

describe('the list of commands', () => {
  it('has a text for every noun, and no noun without a command', () => {
    const nouns = entries
      .filter(({ hidden }) => !hidden)
      .flatMap(({ name }) => name.split(' ').map((_, at, words) => words.slice(0, at).join(' ')))
      .filter((noun) => noun !== '')
    expect([...new Set(nouns)].sort()).toEqual(groups.map(({ name }) => name).sort())
  })

  it('has examples that do something: none of a command that people use only prints its help', async () => {
    const shown = await Promise.all(entries.filter(({ hidden }) => !hidden).map(({ load }) => load()))
    const lines = shown.flatMap(({ command }) => command.examples)
    expect(lines.filter((line) => / --help\b/.test(line))).toEqual([])
  })

  it('keeps the letters of flags apart', async () => {
    const taken = globalOptions.flatMap(({ flags }) => /^-(\w),/.exec(flags)?.[1] ?? [])
    expect(new Set(taken).size).toBe(taken.length)
    for (const { load } of entries) {
      const letters = membersOf((await load()).command.options).flatMap(([, { short }]) => short ?? [])
      expect(new Set(letters).size).toBe(letters.length)
    }
  })
})

describe.each(entries.map((entry) => [entry.name, entry] as const))('souk %s', (name, entry) => {
  it('explains itself, with a word on each flag', async () => {
    const { command } = await entry.load()
    const { code, out, err } = await run(`souk ${name} --help`)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(`Usage: souk ${name}`)
    expect(out).not.toMatch(/\(default: (\)|\[|undefined|null)/)
    for (const example of command.examples) expect(out).toContain(`$ ${example}`)
    for (const [key, shape] of [...membersOf(command.args), ...membersOf(command.options)]) {
      expect(shape.summary, kebab(key)).not.toBe('')
    }
  })

  it('refuses an unknown flag with exit 2 and an empty stdout', async () => {
    const { code, out, err } = await run(`souk ${name} --no-such-flag`)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('no-such-flag')
  })

  it('tells that as one JSON object under --json', async () => {
    const { out, err } = await run(`souk ${name} --no-such-flag --json`)
    expect(out).toBe('')
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'usage', exit: 2 } })
  })
})

describe('help --json', () => {
  it('has the schema of the contract for each command that prints an answer', async () => {
    const { commands, $defs } = JSON.parse((await run('souk help --json')).out)
    const shown = entries.filter(({ hidden, aliasOf }) => !hidden && aliasOf === undefined)
    expect(commands.map(({ name }: { name: string }) => name)).toEqual(shown.map(({ name }) => name))
    const printing = await Promise.all(shown.map(async ({ load }) => (await load()).command.prints))
    const outputs = commands.map(({ output }: { output: object }) => output)
    expect(outputs.map((output: object) => Object.keys(output).length > 0)).toEqual(
      printing.map((name) => name !== undefined),
    )
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    expect(() => ajv.compile({ anyOf: outputs, $defs })).not.toThrow()
  })
})
