import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import ts from 'typescript'
import { beforeAll, describe, expect, test } from 'vitest'

// @deep the compiler goes over every command and screen again and again

/* A wire field is renamed in the contract, in memory: whatever reads or writes it must then not compile. */

const root = resolve(import.meta.dirname, '..')

type Renaming = { readonly file: string; readonly from: string; readonly to: string }

let old: ts.Program
let config: ts.ParsedCommandLine

/** The sources of the command line and the cockpit, their tests and what those stand on. */
beforeAll(() => {
  const file = resolve(root, 'tsconfig.json')
  config = ts.parseJsonConfigFileContent(ts.readConfigFile(file, ts.sys.readFile).config, ts.sys, root)
  const host = ts.createCompilerHost(config.options, true)
  old = ts.createProgram({ rootNames: fronts(), options: config.options, host })
})

const fronts = () => config.fileNames.filter((name) => /^(commands|src)\//.test(relative(root, name)))

/** Those of some files that no longer compile when a member of a section's schema has another name. */
function brokenBy({ file, from, to }: Renaming, among: readonly string[]): readonly string[] {
  const path = resolve(root, file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
  const host = ts.createCompilerHost(config.options, true)
  const renamed = ts.createSourceFile(path, text.replaceAll(from, to), ts.ScriptTarget.ES2023, true)
  const program = ts.createProgram({
    rootNames: fronts(),
    options: config.options,
    oldProgram: old,
    host: {
      ...host,
      getSourceFile: (name, options) =>
        name === path ? renamed : (old.getSourceFile(name) ?? host.getSourceFile(name, options)),
    },
  })
  return faulty(program, among)
}

function faulty(program: ts.Program, among: readonly string[]): readonly string[] {
  return among.filter((name) => program.getSemanticDiagnostics(program.getSourceFile(resolve(root, name))).length > 0)
}

describe('a wire field that is renamed in the contract breaks', () => {
  test.each<readonly [what: string, renaming: Renaming, readers: readonly string[]]>([
    [
      'the balance: its command, and who pays from it',
      { file: 'src/api/sections/balance.ts', from: 'available: Amount', to: 'at_hand: Amount' },
      ['commands/balance.ts', 'src/cli/wallet/paying.ts'],
    ],
    [
      'the receipt of a job: command, screen and test data',
      { file: 'src/api/sections/jobs.ts', from: 'receipt_id: idOf', to: 'receipt: idOf' },
      ['commands/jobs.ts', 'src/tui/job/lines.ts', 'src/tui/jobs/jobs.testkit.ts'],
    ],
    [
      'the age of a cron: command, screen and test data',
      { file: 'src/api/sections/platform.ts', from: 'age_seconds:', to: 'age_s:' },
      ['commands/health.ts', 'src/tui/shell/cron-facts.ts', 'src/tui/fixtures.testkit.ts'],
    ],
  ])('%s', (_, renaming, readers) => {
    expect(faulty(old, readers)).toEqual([])
    expect(brokenBy(renaming, readers)).toEqual(readers)
  })
})
