import { pathToFileURL } from 'node:url'
import { AppError } from '../../../../src/core/error.ts'
import { AXE_RUN, type AxeReport, axeSource, reportOf } from './axe.ts'

type Jsdom = {
  readonly JSDOM: new (
    html: string,
    options: object,
  ) => {
    readonly window: {
      readonly eval: (script: string) => unknown
      readonly close: () => void
      readonly document: { readonly getElementsByTagName: (name: string) => { readonly length: number } }
    }
  }
  readonly VirtualConsole: new () => object
}

export const MAX_DOM_BYTES = 512 * 1024
const MAX_ELEMENTS = 5_000
const TAG = /<[a-z]/gi

/** axe rules that need layout or colours, and so a browser. */
const layoutRules = [
  'color-contrast',
  'color-contrast-enhanced',
  'target-size',
  'link-in-text-block',
  'scrollable-region-focusable',
  'css-orientation-lock',
  'landmark-one-main',
] as const

/** Blocks network access of the page and of the rules. */
const NO_WAY_OUT = `for (const name of ['XMLHttpRequest', 'fetch', 'WebSocket', 'EventSource', 'Worker']) delete globalThis[name]`

/** Parts of an audit that need a browser. */
export const withoutLayout = [
  ...layoutRules.map((rule) => `rule ${rule} (needs a rendered page)`),
  'effects of styles and scripts',
  'frames',
] as const

type Asked = { readonly html: string; readonly url: string; readonly entry: string }

/**
 * Runs the rules over a parsed page. Scripts do not run and nothing is fetched.
 * @throws AppError provider_failed for a page with too many elements
 */
export async function runAxeInDom({ html, url, entry }: Asked): Promise<AxeReport> {
  // Count tags before parsing, since each element takes kilobytes of memory.
  if ((html.match(TAG)?.length ?? 0) > MAX_ELEMENTS) throw tooMuch()
  const { JSDOM, VirtualConsole }: Jsdom = (await import(pathToFileURL(entry).href)).default
  const { window } = new JSDOM(html, { url, runScripts: 'outside-only', virtualConsole: new VirtualConsole() })
  try {
    if (window.document.getElementsByTagName('*').length > MAX_ELEMENTS) throw tooMuch()
    window.eval(NO_WAY_OUT)
    window.eval(await axeSource())
    const off = JSON.stringify(Object.fromEntries(layoutRules.map((rule) => [rule, { enabled: false }])))
    // The report leaves jsdom as JSON text, because jsdom's objects have other prototypes than ours.
    return reportOf([JSON.parse(String(await window.eval(`${AXE_RUN(off)}.then(JSON.stringify)`)))])
  } finally {
    window.close()
  }
}

function tooMuch(): AppError {
  return new AppError('provider_failed', `The page has more than ${MAX_ELEMENTS} elements: too many without a browser.`)
}
