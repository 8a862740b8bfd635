import type { Atrule, CssNode, Rule, Selector, WalkContext } from 'css-tree'
import generate from 'css-tree/generator'
import parse from 'css-tree/parser'
import walk from 'css-tree/walker'
import { screens } from '../../../ports/browser/browser.ts'

export type Declared = { readonly property: string; readonly value: string; readonly isImportant: boolean }
export type StyleRule = {
  readonly selector: string
  /** The rule with the higher value wins; of rules with equal values, the later one. */
  readonly specificity: number
  readonly declared: readonly Declared[]
}
export type StyleSheet = { readonly rules: readonly StyleRule[]; readonly breakpoints: readonly string[] }

const MAX_RULES = 5_000
const MAX_DECLARED = 100
const MAX_VALUE_CHARS = 300
const NAMES_A_CLASS = 100
const EM_PX = 16
/** Selectors for states and pseudo-elements; rules with them are skipped. */
const STATES = /::|:(?:hover|focus|active|visited|target|checked|disabled|before|after|invalid|valid|open|autofill)|&/
const WIDTH = /(min|max)-width\s*:\s*(\d+(?:\.\d+)?)(px|r?em)/g

/** Reads the rules that apply to a wide screen without interaction. Invalid parts are skipped, as browsers do. */
export function readSheet(css: string): StyleSheet {
  const rules: StyleRule[] = []
  const breakpoints: string[] = []
  const sheet = parse(css, { positions: false, parseCustomProperty: false })
  walk(sheet, function (this: WalkContext, node: CssNode) {
    if (node.type === 'Atrule' && node.name === 'media') breakpoints.push(...breakpointsOf(mediaOf(node)))
    if (node.type !== 'Rule' || rules.length >= MAX_RULES || !isShown(this.atrule)) return
    rules.push(...rulesOf(node))
  })
  return { rules, breakpoints }
}

/** Declarations of a `style` attribute. */
export function readDeclarations(css: string): Declared[] {
  return declaredIn(parse(css, { context: 'declarationList', positions: false, parseCustomProperty: false }))
}

function rulesOf({ prelude, block }: Rule): StyleRule[] {
  const declared = declaredIn(block)
  if (prelude.type !== 'SelectorList' || declared.length === 0) return []
  return prelude.children.toArray().flatMap((one) => {
    const selector = generate(one)
    if (one.type !== 'Selector' || STATES.test(selector)) return []
    return [{ selector: selector.replaceAll(':root', 'html'), specificity: specificityOf(one), declared }]
  })
}

function declaredIn(block: CssNode): Declared[] {
  const declared: Declared[] = []
  walk(block, {
    enter(node: CssNode) {
      if (node.type === 'Rule' && node !== block) return walk.skip
      if (node.type !== 'Declaration' || declared.length >= MAX_DECLARED) return undefined
      const { property, important } = node
      const value = generate(node.value).trim().slice(0, MAX_VALUE_CHARS)
      declared.push({
        property: property.startsWith('--') ? property : property.toLowerCase(),
        value,
        isImportant: important !== false,
      })
      return undefined
    },
  })
  return declared
}

function specificityOf(selector: Selector): number {
  const count = { ids: 0, classes: 0, names: 0 }
  walk(selector, (node) => {
    if (node.type === 'IdSelector') count.ids += 1
    else if (/^(ClassSelector|AttributeSelector|PseudoClassSelector)$/.test(node.type)) count.classes += 1
    else if (node.type === 'TypeSelector' && node.name !== '*') count.names += 1
  })
  return (count.ids * NAMES_A_CLASS + count.classes) * NAMES_A_CLASS + count.names
}

function mediaOf({ prelude }: Atrule): string {
  return prelude ? generate(prelude) : ''
}

function breakpointsOf(media: string): string[] {
  return [...media.matchAll(WIDTH)].map(([, , width, unit]) => `${width}${unit}`)
}

/** Whether an at-rule applies to a desktop screen with a light scheme. */
function isShown(rule: Atrule | null): boolean {
  if (!rule) return true
  if (rule.name !== 'media') return rule.name === 'supports' || rule.name === 'layer' || rule.name === 'container'
  const media = mediaOf(rule)
  if (/\bprint\b|\bnot\b|prefers-color-scheme\s*:\s*dark|prefers-contrast|forced-colors|prefers-reduced/.test(media))
    return false
  return [...media.matchAll(WIDTH)].every(([, bound, width, unit]) => {
    const px = Number(width) * (unit === 'px' ? 1 : EM_PX)
    return bound === 'min' ? screens.desktop.width >= px : screens.desktop.width <= px
  })
}
