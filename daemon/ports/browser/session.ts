import { z } from 'zod'
import { type Cdp, type CdpParams, Nothing } from './cdp.ts'
import type { BrowserError } from './error.ts'
import type { GuardedProxy } from './proxy.ts'
import { type PageTraffic, type TrafficOptions, watchTraffic } from './traffic.ts'

export type PageSession = {
  readonly send: <T>(method: string, params: CdpParams, answer: z.ZodType<T>) => Promise<T>
  readonly traffic: PageTraffic
  readonly proxy: GuardedProxy
  /** Id of the main frame; it stays the same across navigations. */
  readonly frame: string
  /** Current address. */
  readonly url: () => string
  /** Whether the page has loaded since the last `forget`, in the navigation `loaderId` or a later one. */
  readonly isLoaded: (loaderId?: string) => boolean
  readonly complaints: () => readonly string[]
  /** Ignores earlier documents. */
  readonly forget: () => void
}

export type ScreenSize = {
  readonly width: number
  readonly height: number
  readonly deviceScaleFactor: number
  readonly mobile: boolean
}

export type SessionOptions = {
  readonly cdp: Cdp
  readonly proxy: GuardedProxy
  readonly web: TrafficOptions['web']
  readonly screen: ScreenSize
  readonly signal: AbortSignal
  readonly onExceeded: (what: BrowserError) => void
}

const MAX_COMPLAINTS = 50
const MAX_COMPLAINT_CHARS = 300

const Attached = z.object({ sessionId: z.string(), targetInfo: z.object({ targetId: z.string(), type: z.string() }) })
const Lifecycle = z.object({ frameId: z.string(), loaderId: z.string(), name: z.string() })
const FrameNavigated = z.object({
  frame: z.object({ id: z.string(), parentId: z.string().optional(), url: z.string(), loaderId: z.string() }),
})
const LogEntry = z.object({ entry: z.object({ level: z.string(), text: z.string(), url: z.string().optional() }) })
const Thrown = z.object({
  exceptionDetails: z.object({
    text: z.string(),
    exception: z.object({ description: z.string().optional() }).optional(),
  }),
})

type Progress = {
  frameId: string | undefined
  url: string
  /** Loader ids of documents since the last `forget`; the last document is shown. */
  loaders: string[]
  /** Its lifecycle events. */
  reached: Set<string>
}

/** Opens the page. Restricts the requests of every target before it runs, and closes windows that the page opens. */
export async function openSession(options: SessionOptions): Promise<PageSession> {
  const { cdp, proxy } = options
  const progress: Progress = { frameId: undefined, url: 'about:blank', loaders: [], reached: new Set() }
  const complaints: string[] = []
  const traffic = watchTraffic({ ...options, mainFrame: () => progress.frameId })
  const ours = Promise.withResolvers<string>()
  // Avoids an unhandled rejection before `ours` is awaited below.
  ours.promise.catch(() => undefined)
  let ownTarget: string | undefined
  cdp.on('Target.attachedToTarget', (params) => {
    const { sessionId, targetInfo } = Attached.parse(params)
    const isOurs = targetInfo.type === 'page' && (ownTarget === undefined || ownTarget === targetInfo.targetId)
    if (isOurs) ownTarget = targetInfo.targetId
    const opened = isOurs
      ? attach(cdp, traffic, { sessionId })
      : attachOther(cdp, traffic, { sessionId, ...targetInfo })
    opened.then(() => isOurs && ours.resolve(sessionId), ours.reject)
  })
  followProgress(cdp, progress, complaints)
  await cdp.send({ method: 'Target.setAutoAttach', params: autoAttach, answer: Nothing })
  await cdp.send({ method: 'Browser.setDownloadBehavior', params: { behavior: 'deny' }, answer: Nothing })
  await cdp.send({ method: 'Target.createTarget', params: { url: 'about:blank' }, answer: Nothing })
  const session = await ours.promise
  const send: PageSession['send'] = (method, params, answer) => cdp.send({ method, params, session, answer })
  await prepare(send, options.screen)
  const { frameTree } = await send('Page.getFrameTree', {}, FrameTree)
  const frameId = frameTree.frame.id
  progress.frameId = frameId
  const { reached } = progress
  return {
    send,
    traffic,
    proxy,
    frame: frameId,
    url: () => progress.url,
    isLoaded: (loaderId) => {
      if (loaderId !== undefined && !progress.loaders.includes(loaderId)) return false
      // A load that stops, for example for a download, reaches `networkIdle` but never `load`.
      return (reached.has('load') && reached.has('networkAlmostIdle')) || reached.has('networkIdle')
    },
    complaints: () => complaints,
    forget: () => {
      progress.loaders.length = 0
      reached.clear()
      complaints.length = 0
    },
  }
}

const FrameTree = z.object({ frameTree: z.object({ frame: z.object({ id: z.string() }) }) })
const autoAttach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }

/** Restricts the requests of a target, then lets it run. */
async function attach(
  cdp: Cdp,
  traffic: PageTraffic,
  { sessionId: session, isWorker = false }: { sessionId: string; isWorker?: boolean },
): Promise<void> {
  await traffic.guard(session, isWorker)
  await cdp.send({ method: 'Target.setAutoAttach', params: autoAttach, session, answer: Nothing })
  await cdp.send({ method: 'Runtime.runIfWaitingForDebugger', session, answer: Nothing })
}

type Other = { readonly sessionId: string; readonly targetId: string; readonly type: string }

/**
 * Lets frames and workers of the page run with restricted requests. The opener of a new window waits for the window to
 * start. The window is therefore started without requests, then closed. Targets of any other type never start.
 */
async function attachOther(cdp: Cdp, traffic: PageTraffic, { sessionId, targetId, type }: Other): Promise<void> {
  const isWindow = type === 'page' || type === 'tab'
  if (!isWindow && !running.has(type)) return
  try {
    if (isWindow) traffic.shut(sessionId)
    await attach(cdp, traffic, { sessionId, isWorker: type === 'worker' })
    if (!isWindow) return
  } catch {
    // Close a target whose requests cannot be restricted.
  }
  // The target may be gone already.
  await cdp.send({ method: 'Target.closeTarget', params: { targetId }, answer: Nothing }).catch(() => undefined)
}

const running: ReadonlySet<string> = new Set(['iframe', 'worker'])

async function prepare(send: PageSession['send'], screen: ScreenSize): Promise<void> {
  await send('Page.enable', {}, Nothing)
  await send('Page.setLifecycleEventsEnabled', { enabled: true }, Nothing)
  await send('Log.enable', {}, Nothing)
  await send('Runtime.enable', {}, Nothing)
  await send('Emulation.setDeviceMetricsOverride', screen, Nothing)
  await send('Emulation.setTouchEmulationEnabled', { enabled: screen.mobile }, Nothing)
  await send('Emulation.setTimezoneOverride', { timezoneId: 'UTC' }, Nothing)
  const features = [{ name: 'prefers-reduced-motion', value: 'reduce' }]
  await send('Emulation.setEmulatedMedia', { features }, Nothing)
}

function followProgress(cdp: Cdp, progress: Progress, complaints: string[]): void {
  const complain = (text: string) => {
    if (complaints.length < MAX_COMPLAINTS) complaints.push(text.slice(0, MAX_COMPLAINT_CHARS))
  }
  cdp.on('Page.frameNavigated', (params) => {
    const { frame } = FrameNavigated.parse(params)
    if (frame.parentId === undefined && frame.id === progress.frameId) progress.url = frame.url
  })
  cdp.on('Page.lifecycleEvent', (params) => {
    const { frameId, loaderId, name } = Lifecycle.parse(params)
    if (frameId !== progress.frameId) return
    // `init` begins a document, also when a script navigates.
    if (name === 'init') {
      progress.loaders.push(loaderId)
      progress.reached.clear()
    } else if (loaderId === progress.loaders.at(-1)) progress.reached.add(name)
  })
  cdp.on('Page.javascriptDialogOpening', (_, session) => {
    const params = { accept: false }
    // The page may be gone.
    cdp.send({ method: 'Page.handleJavaScriptDialog', params, session, answer: Nothing }).catch(() => undefined)
  })
  cdp.on('Log.entryAdded', (params) => {
    const { entry } = LogEntry.parse(params)
    if (entry.level === 'error') complain([entry.text, entry.url].filter(Boolean).join(' '))
  })
  cdp.on('Runtime.exceptionThrown', (params) => {
    const { text, exception } = Thrown.parse(params).exceptionDetails
    complain(exception?.description ?? text)
  })
}
