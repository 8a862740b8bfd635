import { hash } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { CdpError } from '../../../ports/browser/cdp.ts'
import type { BrowserPage, Paper } from '../../../ports/browser/page.ts'
import { checkAddress } from '../docs/pages.ts'
import { BUSY_INSTANT_MS, defineService, type JsonInput, textOf, wrongField } from '../service/service.ts'
import { engineOf, inBrowser, loadedOk } from './opened.ts'
import { MAX_FILE_BYTES } from './page-screenshot.ts'

/** Inches, upright. */
const papers = {
  A4: { width: 8.27, height: 11.69 },
  Letter: { width: 8.5, height: 11 },
  A3: { width: 11.69, height: 16.54 },
  A5: { width: 5.83, height: 8.27 },
} as const
const MAX_HTML_BYTES = 100 * 1024
const MAX_PAGES = 200
/** Number of bytes at the end of a PDF that contain the position of its object table. */
const TRAILER_BYTES = 100
/** Length of an entry in the object table, in bytes. */
const ENTRY_BYTES = 20
const OFFSET_DIGITS = 10

export const pdfGeneration = defineService({
  slug: 'pdf_generation',
  needs: ['browser'],
  timeoutMs: BUSY_INSTANT_MS,
  check(input, ctx) {
    const html = textOf(input, 'html')
    if (html === '') checkAddress('url')(input, ctx)
    else if (Buffer.byteLength(html) > MAX_HTML_BYTES)
      throw wrongField('html', `must be at most ${MAX_HTML_BYTES} bytes`)
  },
  read: (input, ctx) =>
    inBrowser(ctx, { field: 'url', screen: 'desktop' }, async (page) => {
      const shown = await shownIn(page, input)
      const printed = await print(page, { ...papers[formatOf(input)], landscape: input['landscape'] === true })
      return { ...shown, ...printed, blocked: page.blocked(), engine: engineOf(ctx) }
    }),
  make(input, { bytes, pages, truncated, timedOut, finalUrl, blocked, engine }): Json {
    const file = Buffer.from(bytes)
    return {
      ...(finalUrl === undefined
        ? { source: 'html' }
        : { source: 'url', url: textOf(input, 'url').trim(), final_url: finalUrl }),
      format: formatOf(input),
      landscape: input['landscape'] === true,
      content_type: 'application/pdf',
      pages,
      truncated,
      timed_out: timedOut,
      bytes: file.length,
      sha256: hash('sha256', file),
      pdf_base64: file.toString('base64'),
      blocked_requests: blocked,
      engine: { ...engine },
    }
  },
})

/** Lets what a page keeps on the screen, such as a sidebar with hundreds of links, be printed once, not on every page. */
const onceEach = `for (const element of document.querySelectorAll('*')) {
  if (getComputedStyle(element).position === 'fixed') element.style.setProperty('position', 'absolute', 'important')
}
1`

/** Shows `html` if given, otherwise loads `url`. */
async function shownIn(
  page: BrowserPage,
  input: JsonInput,
): Promise<{ timedOut: boolean; finalUrl: string | undefined }> {
  const html = textOf(input, 'html')
  if (html !== '') return { timedOut: (await page.show(html)).timed_out, finalUrl: undefined }
  const { timed_out, final_url } = await loadedOk(page, textOf(input, 'url').trim())
  await page.evaluate(onceEach, z.literal(1))
  return { timedOut: timed_out, finalUrl: final_url }
}

function formatOf(input: JsonInput): keyof typeof papers {
  const format = textOf(input, 'format')
  return format === 'Letter' || format === 'A3' || format === 'A5' ? format : 'A4'
}

async function print(page: BrowserPage, paper: Omit<Paper, 'from' | 'to'>) {
  const bytes = await page.print({ ...paper, from: 1, to: MAX_PAGES })
  const pages = pagesIn(bytes)
  const truncated = pages === MAX_PAGES && (await hasPage(page, { ...paper, from: MAX_PAGES + 1, to: MAX_PAGES + 1 }))
  if (bytes.length > MAX_FILE_BYTES) {
    throw new AppError('provider_failed', `The file is larger than ${MAX_FILE_BYTES} bytes.`)
  }
  return { bytes, pages, truncated }
}

/** Whether the pages exist; the browser refuses to print others. */
async function hasPage(page: BrowserPage, paper: Paper): Promise<boolean> {
  return page.print(paper).then(
    () => true,
    (error: unknown) => {
      if (error instanceof CdpError && !error.isGone) return false
      throw error
    },
  )
}

/** Page count from the root of the page tree (ISO 32000-1, 7.7.3). The browser writes uncompressed object tables. */
function pagesIn(file: Buffer): number {
  const end = file.subarray(-TRAILER_BYTES).toString('latin1')
  const table = file.subarray(Number(/startxref\s+(\d+)/.exec(end)?.[1])).toString('latin1')
  const first = /^xref\s+0 \d+\s+/.exec(table)?.[0].length ?? 0
  const objectAt = (number = '') => {
    const entry = first + Number(number) * ENTRY_BYTES
    const from = Number(table.slice(entry, entry + OFFSET_DIGITS))
    return file.subarray(from, file.indexOf('endobj', from)).toString('latin1')
  }
  const catalog = objectAt(/\/Root (\d+) 0 R/.exec(table)?.[1])
  return Number(/\/Count (\d+)/.exec(objectAt(/\/Pages (\d+) 0 R/.exec(catalog)?.[1]))?.[1] ?? 0)
}
