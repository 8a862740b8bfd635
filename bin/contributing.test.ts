import { execFile, execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Addition, additions } from '../fixtures/contributing/additions.ts'
import { copyTree } from '../fixtures/kit/tree-copy.ts'

// @deep the page is followed to the letter, with all checks

/*
 * docs/CONTRIBUTING.md is followed to the letter in a copy of the tree: an endpoint, a command, a cron, a function and a
 * screen that nobody needs. Each costs the files that its section promises, and the checks and the new tests pass.
 */

const ROOT = join(import.meta.dirname, '..')
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

let tree = ''

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: tree, encoding: 'utf8' })
}

async function apply({ files, lines }: Addition): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(tree, path)), { recursive: true })
    await writeFile(join(tree, path), text)
  }
  for (const { path, before, text } of lines) {
    const old = await readFile(join(tree, path), 'utf8')
    const at = old.search(before)
    if (at < 0) throw new Error(`${path} has no ${before}`)
    await writeFile(join(tree, path), `${old.slice(0, at)}${text}${old.slice(at)}`)
  }
}

/** `npm run` of the copy. @throws Error with all that it printed when it failed */
async function run(script: string): Promise<void> {
  await inTree('npm', ['run', '--silent', script])
}

async function inTree(program: string, words: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)(program, words, { cwd: tree, maxBuffer: OUTPUT_BYTES_MAX })
  } catch (error) {
    const said =
      error instanceof Error && 'stdout' in error ? `${error.stdout}\n${(error as { stderr?: string }).stderr}` : ''
    throw new Error(`${program} ${words.join(' ')}: ${said || error}`)
  }
}

const changedFiles = () =>
  git('status', '--porcelain', '--untracked-files=all')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice(3))

const changedScripts = () => changedFiles().filter((path) => path.endsWith('.ts'))

/** The section of the page under a heading, up to the next one. */
async function sectionOf(heading: string): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/CONTRIBUTING.md'), 'utf8')
  return page.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? ''
}

beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), 'souk-contributing-'))
  await copyTree(tree)
})
afterAll(() => rm(tree, { recursive: true, force: true }))

describe('what docs/CONTRIBUTING.md says of adding', () => {
  test.each(additions)('$what: so many files by hand, each of them named', async (addition) => {
    const section = await sectionOf(addition.heading)
    const byHand = new Set([...Object.keys(addition.files), ...addition.lines.map(({ path }) => path)])
    expect(section).toContain(`**${byHand.size} file${byHand.size === 1 ? '' : 's'}**`)
    const isNamed = (path: string) =>
      addition.named.some((name) => section.includes(`\`${name}\``) && matches(name, path))
    expect([...byHand].filter((path) => !isNamed(path))).toEqual([])
    await apply(addition)
  })

  test('nothing else changes but what is generated', async () => {
    await run('docs')
    await inTree('npx', ['biome', 'check', '--write', ...changedScripts()])
    const byHand = additions.flatMap(({ files, lines }) => [...Object.keys(files), ...lines.map(({ path }) => path)])
    const generated = additions.flatMap((addition) => addition.generated)
    expect(changedFiles().toSorted()).toEqual([...new Set([...byHand, ...generated])].toSorted())
  })

  test('it builds, and every check passes', async () => {
    const { check = '' } = JSON.parse(await readFile(join(tree, 'package.json'), 'utf8')).scripts
    // The files that were there already are linted where they are.
    await inTree('npx', ['biome', 'check', '--error-on-warnings', ...changedScripts()])
    for (const one of check.split(' && ').slice(1)) await inTree('npx', one.split(' '))
    await run('build')
  })

  test('the new tests pass, and those that look at all there is', async () => {
    const tests = additions.flatMap((addition) => addition.tests)
    await inTree(process.execPath, [
      'node_modules/vitest/vitest.mjs',
      'run',
      ...new Set(tests),
      '--testNamePattern',
      '[Pp]ace|is what the files say|are 32',
    ])
  })
})

/** Whether a path of the page, with its `<…>`, is that of a file. */
function matches(name: string, path: string): boolean {
  return new RegExp(`^${name.replaceAll('.', '\\.').replace(/<[^>]+>/g, '[\\w-]+')}$`).test(path)
}
