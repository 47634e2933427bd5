/**
 * A real browser for tests of the page, its errors collected.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { type Browser, chromium, type Page } from "playwright-core";

const CHROMIUM = "/usr/bin/chromium";

/** Whether tests in the browser are left out, and why: the end of their names. */
export const without: { readonly ignore: boolean; readonly reason: string } =
  lacks();

function lacks() {
  try {
    Deno.statSync(CHROMIUM);
    return { ignore: false, reason: "" };
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    return { ignore: true, reason: ` (there is no ${CHROMIUM})` };
  }
}

/** A page, and what it complained of: messages of its console and errors. */
export interface Opened {
  readonly page: Page;
  readonly complaints: string[];
  /** Addresses that it asked for, besides its own. */
  readonly requests: string[];
}

/** The view of the page. */
export interface Look {
  readonly width: number;
  readonly height: number;
  readonly hash?: string;
  readonly scheme?: "light" | "dark";
}

/** The browser with a fresh profile, and the files that were shown in it. */
export class Shown implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #folder = Deno.makeTempDirSync();

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Starts it. */
  static async start(): Promise<Shown> {
    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
    return new Shown(browser);
  }

  /** Opens the report `html` from a file, until its first table is there. */
  async open(html: string, look: Look): Promise<Opened> {
    const opened = await this.openFile("report.html", html, look);
    await opened.page.locator("#table table").waitFor();
    await opened.page.locator("#charts h2").waitFor();
    return opened;
  }

  /** Opens `text` from a file. */
  async openFile(name: string, text: string, look: Look): Promise<Opened> {
    const { width, height, hash = "", scheme = "light" } = look;
    const path = `${this.#folder}/${name}`;
    Deno.writeTextFileSync(path, text);
    const context = await this.#browser.newContext({
      viewport: { width, height },
      colorScheme: scheme,
      hasTouch: width < 640,
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(`${error}`));
    page.on("request", (request) => {
      if (!request.url().startsWith(`file://${path}`)) {
        requests.push(request.url());
      }
    });
    await page.goto(`file://${path}${hash === "" ? "" : `#${hash}`}`);
    return { page, complaints, requests };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    Deno.removeSync(this.#folder, { recursive: true });
  }
}

/** A test in the browser; what the page complains of fails it. */
export function inBrowser(
  name: string,
  test: (shown: Shown, complaints: string[]) => Promise<void>,
  what = "formatReport()",
): void {
  Deno.test({
    name: `${what} in Chromium ${name}${without.reason}`,
    ignore: without.ignore,
    // The browser's pipes are closed after the last test's promise.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      const complaints: string[] = [];
      await using browser = await Shown.start();
      await test(browser, complaints);
      assertEquals(complaints, []);
    },
  });
}
