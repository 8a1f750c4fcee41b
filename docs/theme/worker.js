// Search from a folder: browsers start no worker for file:// pages, so the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      this.frame = frame
      const inside = frame.contentWindow
      inside.document.open()
      inside.document.write("<!doctype html><html><body></body></html>")
      inside.document.close()
      inside.postMessage = data => {
        const event = new MessageEvent("message", {data})
        this.dispatchEvent(event)
        if (this.onmessage) this.onmessage(event)
      }
      inside.importScripts = (...urls) => urls.reduce((before, one) => before.then(() => this.load(one)), Promise.resolve())
      this.ready = this.load(url)
    }
    load(url) {
      const inside = this.frame.contentWindow.document
      return new Promise((done, failed) => {
        const script = inside.createElement("script")
        script.src = url
        script.onload = () => done()
        script.onerror = () => failed(new Error(`cannot load ${url}`))
        inside.body.appendChild(script)
      })
    }
    postMessage(data) {
      const inside = this.frame.contentWindow
      this.ready.then(() => inside.dispatchEvent(new MessageEvent("message", {data})))
    }
    terminate() { this.frame.remove() }
  }
  window.Worker = window.IFrameWorker
}
