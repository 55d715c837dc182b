// Requests and responses that cost next to nothing, and the same for every middleware. They have what the
// measured ones read and call, and keep the fields that are set.

const application = { get: () => false };
const headers = { host: "localhost" };
const socket = { remoteAddress: "127.0.0.1", destroyed: false };

export class FakeRequest {
  constructor(ip) {
    this.ip = ip;
    this.method = "GET";
    this.originalUrl = "/";
    this.headers = headers;
    this.app = application;
    this.socket = socket;
  }
}

export class FakeResponse {
  constructor(request, onEnd) {
    this.req = request;
    this.statusCode = 200;
    this.headersSent = false;
    this.writableEnded = false;
    this.destroyed = false;
    this.fields = {};
    this.onEnd = onEnd;
  }

  setHeader(name, value) {
    this.fields[name] = value;
    return this;
  }

  getHeader(name) {
    return this.fields[name];
  }

  removeHeader(name) {
    if (this.fields[name] !== undefined) this.fields[name] = undefined;
  }

  status(code) {
    this.statusCode = code;
    return this;
  }

  json(value) {
    this.end(JSON.stringify(value));
  }

  send(body) {
    this.end(body);
  }

  end() {
    this.writableEnded = true;
    this.onEnd();
  }

  once() {}

  removeListener() {}
}
