import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { figureRules } from './tidy/figure-rules.testkit.ts'
import { brokenLines, covers, lineRules } from './tidy/line-rules.testkit.ts'
import { type Tree, type TreeRule, treeRules } from './tidy/tree-rules.testkit.ts'

// @slow it reads every file of the repository

/* The repository checks itself. Each message says what to write instead. */

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = ['bin', 'src', 'daemon', 'commands', 'fixtures', 'docs', '.ci', '.biome']
const BINARY = /\.(png|gz|zip|pdf|db|sqlite|wasm|bin)$/
/** These two hold the planted violations. */
const PLANTS = /^src\/(tidy\/|canary\.test)/

const tree = readTree()
const checked = [...tree].filter(([path]) => !PLANTS.test(path))

describe('every line', () => {
  it.each(lineRules)('$name: $instead', (rule) => {
    const found = checked
      .filter(([path]) => covers(rule, path))
      .flatMap(([path, text]) => brokenLines(rule, text).map((line) => `${path}:${line}`))
    expect(found, rule.instead).toEqual([])
  })

  it.each(lineRules)('$name flags its plant and lets its spare pass', (rule) => {
    expect(brokenLines(rule, rule.plant)).toEqual([1])
    expect(brokenLines(rule, rule.spare)).toEqual([])
    expect(checked.some(([path]) => covers(rule, path))).toBe(true)
  })
})

describe.each<[string, readonly TreeRule[]]>([
  ['the tree', treeRules],
  ['the figures of the sources', figureRules],
])('%s', (_, rules) => {
  it.each(rules)('$name: $instead', (rule) => {
    expect(rule.find(tree), rule.instead).toEqual([])
  })

  it.each(rules)('$name flags its plant and lets its spare pass', (rule) => {
    expect(rule.find(rule.plant)).toHaveLength(1)
    expect(rule.find(rule.spare)).toEqual([])
  })
})

function readTree(): Tree {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
  )
  const atRoot = readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isFile() && entry.name !== '.git')
  const paths = [...inFolders, ...atRoot].map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
  const texts = paths.filter((path) => !BINARY.test(path) && !path.includes('node_modules'))
  return new Map(texts.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
}
