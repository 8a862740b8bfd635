export type FlagFacts = {
  readonly profile: string
  /** Loopback port of the `GuardedProxy`, the browser's only way to the network. */
  readonly proxyPort: number
  readonly userAgent: string
  readonly isSandboxed: boolean
  readonly trustedKeys?: readonly string[] | undefined
}

/** Heap limit for a page's scripts, in megabytes. */
const MAX_SCRIPT_HEAP_MB = 256

/** Never resolves (RFC 2606). */
const NOWHERE = 'http://nowhere.invalid'

/** Browser features to disable, because they send requests of their own or bypass a proxy. */
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
 * Flags that route all traffic through the proxy: no DNS, no datagrams, no vendor services. The bypass list
 * `<-loopback>` sends requests to loopback through the proxy, too.
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
