import { api, type EndpointName } from '../../src/api/index.ts'
import type { AppError, ErrorCode } from '../../src/core/error.ts'
import { type Html, html, page } from '../endpoint/html.ts'

type Failed = {
  readonly error: AppError
  readonly requestId: string
  /** The endpoint of the address, if any. */
  readonly endpoint: EndpointName | undefined
}

/** An error page (decisions §2). It says what happened and what to do next, and has the id for the operator's log. */
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
<p>Request <code>${requestId}</code>, status ${error.status}.</p>`,
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
  invalid_request: 'Invalid request',
  not_found: 'Page not found',
  rate_limited: 'Too many requests',
  internal: 'Internal error',
  unavailable: 'Temporarily unavailable',
}

function sentence(code: ErrorCode): string {
  const words = code.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const used = html`If you have already agreed, you are done. Otherwise ask the agent that sent you the link for a new one.`

/** Texts for one-time links that no longer open, by endpoint. */
const ofLinks: Partial<Record<EndpointName, Html>> = {
  openTrace: html`The link opens once, within an hour. If someone else opened it, tell its sender.`,
  getConsentPage: used,
  consentToVerification: used,
}

const again = html`Try again. If it fails again, send the request id below to the operator of this marketplace.`
const goBack = html`Go back, correct the fields above, and send the form again.`

const nextSteps: Partial<Record<ErrorCode, Html>> = {
  invalid_request: goBack,
  too_large: goBack,
  unsupported_media_type: goBack,
  not_found: html`Check the address for typos. <a href="${api.getDocs.path}">The reference</a> lists all pages.`,
  method_not_allowed: html`Open this address with GET; it accepts no other method.`,
  misdirected: html`Open the marketplace at its public address.`,
  rate_limited: html`Then load the page again.`,
}

function nextStep(code: ErrorCode, endpoint: EndpointName | undefined): Html {
  return (code === 'not_found' && endpoint ? ofLinks[endpoint] : undefined) ?? nextSteps[code] ?? again
}
