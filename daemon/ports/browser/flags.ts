/** What a browser is started with. */
export type FlagFacts = {
  readonly profile: string
  /** Where the guarded proxy listens on loopback: the one way out. */
  readonly proxyPort: number
  readonly userAgent: string
  readonly isSandboxed: boolean
  /** SHA-256 of public keys that are trusted besides those of authorities, base64; none in a real daemon. */
  readonly trustedKeys?: readonly string[] | undefined
}

/** A page's scripts may hold this much, in megabytes. */
const MAX_SCRIPT_HEAP_MB = 256

/** Never resolves (RFC 2606). */
const NOWHERE = 'http://nowhere.invalid'

/** Parts of the browser that ask somebody on their own, or that talk past a proxy. */
const offFeatures = [
  'AsyncDns',
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'DialMediaRouteProvider',
  'DnsOverHttps',
  'DnsOverHttpsUpgrade',
  'InterestFeedContentSuggestions',
  'MediaRouter',
  'NetworkPrediction',
  'OptimizationHints',
  'Prerender2',
  'Translate',
  'WebTransport',
] as const

/**
 * Flags under which every byte that leaves the browser goes through the proxy: it resolves no name, sends no datagram
 * and asks no service of its maker. Loopback is not excepted from the proxy, which is what the odd bypass list says.
 */
export function browserFlags({ profile, proxyPort, userAgent, isSandboxed, trustedKeys = [] }: FlagFacts): string[] {
  return [
    '--headless=new',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    `--disk-cache-dir=${profile}/cache`,
    `--crash-dumps-dir=${profile}`,
    `--user-agent=${userAgent}`,
    `--proxy-server=http://127.0.0.1:${proxyPort}`,
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-quic',
    '--dns-prefetch-disable',
    `--gaia-url=${NOWHERE}`,
    `--google-base-url=${NOWHERE}`,
    `--component-updater=url-source=${NOWHERE}`,
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-component-extensions-with-background-pages',
    '--disable-extensions',
    '--disable-default-apps',
    '--disable-sync',
    '--disable-domain-reliability',
    '--disable-client-side-phishing-detection',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--no-crash-upload',
    '--no-pings',
    '--no-first-run',
    '--no-default-browser-check',
    '--no-service-autorun',
    '--no-startup-window',
    '--metrics-recording-only',
    '--deny-permission-prompts',
    '--password-store=basic',
    '--use-mock-keychain',
    `--disable-features=${offFeatures.join(',')}`,
    `--js-flags=--max-old-space-size=${MAX_SCRIPT_HEAP_MB}`,
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-notifications',
    '--disable-speech-api',
    '--mute-audio',
    '--hide-scrollbars',
    '--force-color-profile=srgb',
    '--lang=en-US',
    ...(isSandboxed ? [] : ['--no-sandbox']),
    ...(trustedKeys.length === 0 ? [] : [`--ignore-certificate-errors-spki-list=${trustedKeys.join(',')}`]),
  ]
}
