import { setTimeout as sleep } from 'node:timers/promises'
import { parse as parseName } from 'tldts'
import { z } from 'zod'
import { SECOND_MS } from '../../../src/core/time.ts'
import { WebError } from '../web/error.ts'
import { Nothing } from './cdp.ts'
import { BrowserError } from './error.ts'
import type { PageSession } from './session.ts'
import type { PageResource } from './traffic.ts'

export type Loaded = {
  readonly final_url: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly redirects: readonly { readonly status: number; readonly to: string }[]
  /** Whether some parts of the page had not arrived when the wait ended. */
  readonly timed_out: boolean
}

/** A script's result in one frame. The first frame in a list is the page itself. */
export type InFrame<T> = { readonly url: string; readonly answer: T }

export type PictureOrder = { readonly format: 'png' | 'jpeg'; readonly clip?: Clip }
export type Clip = { readonly width: number; readonly height: number; readonly scale: number }
export type Paper = {
  /** Inches. */
  readonly width: number
  readonly height: number
  readonly landscape: boolean
  /** First and last page. */
  readonly from: number
  readonly to: number
}

/** A script's text, or that text serialised by `prepared`. */
type Script = string | Buffer

/** A page in its own browser. All methods may throw BrowserError, or CdpError, which `withPage` converts. */
export type BrowserPage = {
  /** @throws WebError for a refused or unreachable address */
  readonly load: (url: string) => Promise<Loaded>
  /** Shows an HTML text as a page without an address. Its scripts do not run. */
  readonly show: (html: string) => Promise<{ readonly timed_out: boolean }>
  readonly evaluate: <T>(script: Script, answer: z.ZodType<T>) => Promise<T>
  readonly evaluateInFrames: <T>(script: Script, answer: z.ZodType<T>) => Promise<readonly InFrame<T>[]>
  readonly picture: (how: PictureOrder) => Promise<Buffer>
  readonly print: (paper: Paper) => Promise<Buffer>
  readonly throttle: (to: Throttling) => Promise<void>
  readonly resources: () => readonly PageResource[]
  readonly blocked: () => number
  /** Console errors of the page. */
  readonly complaints: () => readonly string[]
}

export type Throttling = { readonly cpu: number; readonly latencyMs: number; readonly bytesPerSecond: number }

/** After this long without network activity, the page's missing parts are no longer awaited. */
export const REST_MS = 15 * SECOND_MS
/** Longest wait for the parts of a page, once its navigation has begun. */
const MAX_LOAD_MS = 25 * SECOND_MS
/** Polling interval while loading. */
const LOOK_MS = 50
/** Longest wait for a page whose scripts keep the processor busy. */
const ANSWER_MS = 10 * SECOND_MS
const MAX_FRAMES = 10
const PRINT_CHUNK_BYTES = 1024 * 1024
const MAX_PRINT_BYTES = 16 * 1024 * 1024
const JPEG_QUALITY = 85

const Navigated = z.object({ loaderId: z.string().optional(), errorText: z.string().optional() })
const Data = z.object({ data: z.string() })
const Evaluated = z.object({
  result: z.object({ value: z.unknown() }),
  exceptionDetails: z.object({ text: z.string() }).optional(),
})
const Frame = z.object({ id: z.string(), url: z.string() })
type FrameTree = { frame: z.output<typeof Frame>; childFrames?: FrameTree[] | undefined }
const FrameTree: z.ZodType<FrameTree> = z.object({
  frame: Frame,
  childFrames: z.lazy(() => z.array(FrameTree)).optional(),
})

export function openPage(session: PageSession): BrowserPage {
  const { send, traffic } = session
  return {
    load: (url) => load(session, url),
    show: (html) => show(session, html),
    evaluate: async (script, answer) => answer.parse(await evaluate(session, session.frame, script)),
    evaluateInFrames: (script, answer) => evaluateInFrames(session, script, answer),
    picture: async ({ format, clip }) => {
      const quality = format === 'jpeg' ? { quality: JPEG_QUALITY } : {}
      const cut = clip ? { clip: { x: 0, y: 0, ...clip }, captureBeyondViewport: true } : {}
      const { data } = await send('Page.captureScreenshot', { format, ...quality, ...cut }, Data)
      return Buffer.from(data, 'base64')
    },
    print: (paper) => print(session, paper),
    throttle: async ({ cpu, latencyMs, bytesPerSecond }) => {
      const speed = { downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond }
      await send('Emulation.setCPUThrottlingRate', { rate: cpu }, Nothing)
      await send('Network.emulateNetworkConditions', { offline: false, latency: latencyMs, ...speed }, Nothing)
    },
    resources: traffic.resources,
    blocked: traffic.blocked,
    complaints: session.complaints,
  }
}

async function load(session: PageSession, url: string): Promise<Loaded> {
  // Browsers would also open `file:`, `chrome:` and `javascript:` addresses.
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new WebError('scheme_refused', 'Only http and https URLs are allowed.')
  }
  const { traffic } = session
  traffic.clear()
  session.forget()
  const late = sleep(REST_MS, 'late' as const, { ref: false })
  const begun = await Promise.race([session.send('Page.navigate', { url }, Navigated), late])
  if (begun !== 'late' && begun.errorText !== undefined) throw whyNot(session, url, begun.errorText)
  const timed_out = begun === 'late' || (await isMissingParts(session, begun.loaderId))
  await isAnswering(session)
  const final_url = session.url()
  const document = traffic
    .resources()
    .findLast(({ isMain, url: at }) => isMain && withoutHash(at) === withoutHash(final_url))
  if (document?.status === undefined) throw whyNot(session, url, 'net::ERR_TIMED_OUT')
  const { status, headers } = document
  return { final_url, status, headers, redirects: traffic.redirects(), timed_out }
}

/** Waits until a page has loaded or a time limit is over. @returns whether parts are missing */
async function isMissingParts(session: PageSession, loaderId?: string): Promise<boolean> {
  const { traffic } = session
  const end = performance.now() + MAX_LOAD_MS
  const isWhole = () => session.isLoaded(loaderId) && traffic.isQuiet()
  while (!isWhole() && traffic.silentMs() < REST_MS && performance.now() < end) await sleep(LOOK_MS)
  return !session.isLoaded(loaderId) || traffic.missing() > 0
}

function withoutHash(url: string): string {
  return url.replace(/#.*$/, '')
}

function whyNot({ traffic, proxy }: PageSession, url: string, code: string): Error {
  const refusal = traffic.refusal() ?? proxy.refusals.get(new URL(url).origin)
  if (refusal) return refusal
  if (code === 'net::ERR_ABORTED') return new BrowserError('page', 'The address is a file, not a page')
  if (/CERT|SSL/.test(code)) return new WebError('tls_failed', 'TLS failed, or the browser rejected the certificate.')
  if (code === 'net::ERR_TIMED_OUT') return new WebError('timeout', 'The server did not respond in time.')
  if (code === 'net::ERR_TOO_MANY_REDIRECTS') return new WebError('too_many_redirects', 'The page redirects too often.')
  // After redirects, the refusal is stored under the last origin, not under that of `url`.
  const [last] = [...proxy.refusals.values()].reverse()
  return last ?? new WebError('broken', 'The connection closed before the response was complete.')
}

async function isAnswering(session: PageSession): Promise<void> {
  const late = sleep(ANSWER_MS, 'late' as const, { ref: false })
  const said = await Promise.race([evaluate(session, session.frame, '1'), late])
  if (said === 'late') throw new BrowserError('page', 'The page never stops using the processor')
}

async function show(session: PageSession, html: string): Promise<{ timed_out: boolean }> {
  session.traffic.clear()
  session.forget()
  const { send } = session
  await send('Emulation.setScriptExecutionDisabled', { value: true }, Nothing)
  await send('Page.setDocumentContent', { frameId: session.frame, html }, Nothing)
  return { timed_out: await isMissingParts(session) }
}

/** Runs a script in an isolated world, which the page's scripts and policy cannot affect. */
async function evaluate({ send }: PageSession, frameId: string, script: Script): Promise<unknown> {
  const { executionContextId } = await send(
    'Page.createIsolatedWorld',
    { frameId, worldName: 'souk' },
    z.object({ executionContextId: z.number() }),
  )
  const { result, exceptionDetails } = await send(
    'Runtime.evaluate',
    { expression: script, contextId: executionContextId, returnByValue: true, awaitPromise: true },
    Evaluated,
  )
  if (exceptionDetails) throw new BrowserError('page', 'The page could not be inspected', exceptionDetails.text)
  return result.value
}

/** Runs a script in every frame, except frames of other sites, which run in other processes. */
async function evaluateInFrames<T>(
  session: PageSession,
  script: Script,
  answer: z.ZodType<T>,
): Promise<readonly InFrame<T>[]> {
  const { frameTree } = await session.send('Page.getFrameTree', {}, z.object({ frameTree: FrameTree }))
  const answers: InFrame<T>[] = []
  const own = framesOf(frameTree).filter(({ url }) => isOfSite(url, frameTree.frame.url))
  for (const { id, url } of own.slice(0, MAX_FRAMES)) {
    answers.push({ url, answer: answer.parse(await evaluate(session, id, script)) })
  }
  return answers
}

/** Whether a frame belongs to the page's site, or was created by the page (`about:srcdoc`, `about:blank`). */
function isOfSite(url: string, page: string): boolean {
  const [frame, main] = [URL.parse(url), URL.parse(page)]
  if (!frame || !main || frame.protocol === 'about:') return true
  const domain = parseName(main.hostname).domain
  return frame.host === main.host || (domain !== null && domain === parseName(frame.hostname).domain)
}

function framesOf({ frame, childFrames = [] }: FrameTree): z.output<typeof Frame>[] {
  return [frame, ...childFrames.flatMap(framesOf)]
}

async function print({ send }: PageSession, { width, height, landscape, from, to }: Paper): Promise<Buffer> {
  const options = {
    paperWidth: width,
    paperHeight: height,
    landscape,
    printBackground: true,
    generateTaggedPDF: true,
    pageRanges: `${from}-${to}`,
    transferMode: 'ReturnAsStream',
  }
  const { stream } = await send('Page.printToPDF', options, z.object({ stream: z.string() }))
  const parts: Buffer[] = []
  const Chunk = z.object({ data: z.string(), base64Encoded: z.boolean().optional(), eof: z.boolean() })
  for (let size = 0; size <= MAX_PRINT_BYTES; ) {
    const chunk = await send('IO.read', { handle: stream, size: PRINT_CHUNK_BYTES }, Chunk)
    const part = Buffer.from(chunk.data, chunk.base64Encoded === true ? 'base64' : 'utf8')
    parts.push(part)
    size += part.length
    if (chunk.eof) return Buffer.concat(parts)
  }
  throw new BrowserError('page', `The file is larger than ${MAX_PRINT_BYTES} bytes`)
}
