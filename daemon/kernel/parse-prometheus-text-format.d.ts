declare module 'parse-prometheus-text-format' {
  type Sample = { value?: string; labels?: Record<string, string> }
  type Family = { name: string; help: string; type: string; metrics: Sample[] }
  // biome-ignore lint/style/noDefaultExport: it is what the package exports
  export default function parse(text: string): Family[]
}
