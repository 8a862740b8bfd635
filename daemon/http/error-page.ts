import { api, type EndpointName } from '../../src/api/index.ts'
import type { AppError, ErrorCode } from '../../src/core/error.ts'
import { type Html, html, page } from '../endpoint/html.ts'

type Failed = {
  readonly error: AppError
  readonly requestId: string
  /** The endpoint of the address, if any. */
  readonly endpoint: EndpointName | undefined
}

/** An error page (decisions §2): what happened, what to do next, and the id for the operator's log. */
export function errorPage({ error, requestId, endpoint }: Failed): Html {
  const { code, message, details = [], retryAfter } = error
  const title = titles[code] ?? sentence(code)
  return page({
    title,
    body: html`<h1>${title}</h1>
<p>${message}</p>
${details.length > 1 ? faults(details) : null}
<h2>What to do next</h2>
<p>${retryAfter === undefined ? null : `Wait ${retryAfter} seconds. `}${nextStep(code, endpoint)}</p>
<p>Request <code>${requestId}</code>, answered with status ${error.status}.</p>`,
  })
}

function faults(details: NonNullable<AppError['details']>): Html {
  return html`<ul>
${details.map(
  ({ path, message }) => html`<li><code>${path}</code>: ${message}</li>
`,
)}</ul>`
}

const titles: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'That could not be understood',
  not_found: 'There is nothing here',
  rate_limited: 'Too many requests',
  internal: 'Something failed here',
  unavailable: 'This does not work at the moment',
}

function sentence(code: ErrorCode): string {
  const words = code.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const used = html`If you have agreed already, nothing is left to do here. If you have not, ask the agent that sent you the link for a new one.`

/** Texts for links that no longer open, by endpoint. */
const ofLinks: Partial<Record<EndpointName, Html>> = {
  openTrace: html`The link opens once, within an hour. If you did not open it yourself, tell its sender.`,
  getConsentPage: used,
  consentToVerification: used,
}

const again = html`Try again. If it fails again, tell the operator of this marketplace the request that is named below.`
const goBack = html`Go back, correct the fields above, and send it again.`

const nextSteps: Partial<Record<ErrorCode, Html>> = {
  invalid_request: goBack,
  too_large: goBack,
  unsupported_media_type: goBack,
  not_found: html`Look for a slip in the address. <a href="${api.getDocs.path}">The reference</a> lists all that is here.`,
  method_not_allowed: html`Open the address as a page; nothing can be sent to it.`,
  misdirected: html`Open the marketplace at its public address.`,
  rate_limited: html`Then load the page again.`,
}

function nextStep(code: ErrorCode, endpoint: EndpointName | undefined): Html {
  return (code === 'not_found' && endpoint ? ofLinks[endpoint] : undefined) ?? nextSteps[code] ?? again
}
