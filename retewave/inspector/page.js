"use strict";
// The inspector's page: draws the network, follows the counts, sends commands.  All data is set as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";
const PAGE_ROWS = 50;
const MARGIN = 6;
const INSET = 11; // of a label in its box
const HINT = "space runs and pauses · s steps · / searches · tab and enter open a node · escape closes";
const WORDS = { rows_in: "in", refused_by_key: "without a partner" }; // counts that the page calls otherwise
const by = (id) => document.getElementById(id);
const nodes = new Map(); // name -> {element, sub, data}
const links = []; // {element, source, target}
let size = [1, 1], zoom = 0, fitted = true, latest = null, opened = null, offset = 0, asked = 0, busy = false, marked = "";

function made(tag, parent, attributes = {}, text = null) {
  const element = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

// Shorten a label until it fits its box.
function cut(element, room) {
  const text = element.textContent;
  for (let kept = text.length - 1; kept > 0 && element.getComputedTextLength() > room; kept--) {
    element.textContent = `${text.slice(0, kept)}…`;
  }
}

const number = (value) => Number(value).toLocaleString("en");

// ---- the network ----
function draw(network) {
  const svg = by("network"), [width, height] = network.node;
  size = [network.size[0] + 2 * MARGIN, network.size[1] + 2 * MARGIN];
  svg.setAttribute("viewBox", `${-MARGIN} ${-MARGIN} ${size[0]} ${size[1]}`);
  const places = new Map(network.nodes.map((node) => [node.name, node]));
  for (const link of network.links) {
    const from = places.get(link.source), to = places.get(link.target);
    const x1 = from.x + width, y1 = from.y + height / 2, x2 = to.x, y2 = to.y + height / 2, bend = Math.max(24, (x2 - x1) / 2);
    const path = `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
    links.push({ element: made("svg:path", svg, { class: link.behind ? "link behind" : "link", d: path }), source: link.source, target: link.target });
  }
  for (const data of network.nodes) drawNode(svg, data, width, height);
  fit();
  const left = network.left_out ? ` ${number(network.left_out)} nodes of the schema are not drawn.` : "";
  by("network").setAttribute("aria-label", `Network of ${network.nodes.length} nodes.${left}`);
}

function drawNode(svg, data, width, height) {
  const opens = ["memory", "probe", "query"].includes(data.kind);
  const kinds = `node ${data.kind} ${data.of || ""} ${opens ? "open" : ""}`;
  const group = made("svg:g", svg, { class: kinds, transform: `translate(${data.x},${data.y})`, "data-name": data.name });
  made("svg:rect", group, { class: "box", width, height, rx: ["join", "probe"].includes(data.kind) ? 22 : 7 });
  cut(made("svg:text", group, { x: INSET, y: 19 }, title(data)), width - 2 * INSET);
  const sub = made("svg:text", group, { x: INSET, y: 36, class: "sub" }, data.kind);
  made("svg:title", group, {}, data.text || data.label);
  if (opens) {
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", `${data.kind} ${title(data)}`);
    group.addEventListener("click", () => open(data.name));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter") open(data.name);
    });
  }
  nodes.set(data.name, { element: group, sub, data });
}

function title(data) {
  if (data.kind === "memory") return data.pattern || data.label || data.text;
  if (data.kind === "join") return `join ${data.label}`;
  if (data.kind === "probe") return `${data.operator} ${data.label}`;
  return data.label;
}

function fit(least = 0.72) {
  const room = by("stage").clientWidth - 48;
  zoom = Math.min(1.25, Math.max(least, room / size[0]));
  fitted = true;
  resize();
}

function resize() {
  by("network").setAttribute("width", size[0] * zoom);
  by("network").setAttribute("height", size[1] * zoom);
}

function scale(factor) {
  zoom = Math.min(4, Math.max(0.2, zoom * factor));
  fitted = false;
  resize();
}

// ---- the counts ----
function show(snapshot) {
  const before = latest;
  latest = snapshot;
  const waits = [...nodes].some(([name, node]) => node.data.kind === "probe" || (snapshot.nodes[name] || {}).reports !== undefined);
  const running = snapshot.state === "running", over = snapshot.state === "ended" || snapshot.state === "failed";
  by("state").textContent = snapshot.error || snapshot.state;
  by("state").className = snapshot.state;
  by("run").textContent = running ? "Pause" : "Run";
  by("run").disabled = by("step").disabled = over;
  choose(by("pace"), String(snapshot.pace));
  list(by("totals"), {
    time: snapshot.now || "–", read: number(snapshot.triples), used: number(snapshot.poured),
    live: number(snapshot.live_rows), collected: number(snapshot.collected), matches: number(snapshot.matches),
    ...(waits ? { waiting: number(snapshot.waiting), "next due": snapshot.next_due || "–" } : {}),
  });
  for (const [name, node] of nodes) node.sub.textContent = summary(node.data, snapshot.nodes[name]);
  mark(snapshot.last);
  if (opened && (!before || changed(before.nodes[opened], snapshot.nodes[opened]))) load();
}

function choose(select, value) {
  if (![...select.options].some((option) => option.value === value)) made("option", select, { value }, `${value}/s`);
  if (document.activeElement !== select) select.value = value;
}

function summary(data, counts) {
  if (!counts) return data.kind;
  if (data.kind === "memory") {
    const refused = counts.refused_by_filter ? ` · ${number(counts.refused_by_filter)} refused` : "";
    if (data.passing) return `${number(counts.rows_in)} in · keeps none${refused}`;
    return `${number(counts.live)} live · ${number(counts.rows_in)} in${refused}${data.static ? " · static" : ""}`;
  }
  if (data.kind === "join") return `${number(counts.hits)} made · ${data.window}`;
  if (data.kind === "probe") return `${number(counts.waiting)} waiting · ${number(counts.passed)} of ${number(counts.decided)} passed`;
  if (counts.reports !== undefined) return `${number(counts.reports)} ${counts.reports === 1 ? "report" : "reports"} · ${number(counts.matches)} rows`;
  return `${number(counts.matches)} ${counts.matches === 1 ? "match" : "matches"}`;
}

const changed = (one, other) => JSON.stringify(one) !== JSON.stringify(other);

function list(target, pairs) {
  const names = Object.keys(pairs);
  const same = names.length === target.children.length && names.every((name, i) => target.children[i].dataset.name === name);
  if (!same) {
    target.replaceChildren();
    for (const name of names) {
      const pair = made("div", target, { "data-name": name });
      made("dt", pair, {}, name);
      made("dd", pair, { "data-count": name }, "");
    }
  }
  names.forEach((name, i) => { target.children[i].lastChild.textContent = pairs[name]; });
}

function mark(last) {
  const said = JSON.stringify(last);
  if (said === marked) return;
  marked = said;
  const touched = new Set(last ? last.touched : []), refused = new Set(last ? last.refused : []);
  for (const [name, node] of nodes) {
    node.element.classList.toggle("touched", touched.has(name));
    node.element.classList.toggle("refused", refused.has(name));
  }
  for (const link of links) link.element.classList.toggle("touched", touched.has(link.source) && touched.has(link.target));
  const line = by("last");
  line.replaceChildren();
  if (!last) {
    made("span", line, { class: "hint" }, HINT);
    return;
  }
  made("span", line, { class: "tag" }, `touched ${last.touched.length} nodes`);
  made("span", line, {}, last.matches ? `, ${number(last.matches)} ${last.matches === 1 ? "match" : "matches"}` : ", no match yet");
  const where = [...new Set(last.refused.map(label))].join(", ");
  if (where) made("span", line, { class: "wrong" }, `, refused at ${where}`);
  const what = { triple: last.triple.join(" "), instant: "the instant is closed", deadline: "the deadline has come", report: "the time of a report has come" };
  made("code", line, {}, `   ${what[last.what]}   `);
  made("span", line, { class: "hint" }, `at ${last.time}${last.stream ? " on " + last.stream : ""}`);
}

const label = (name) => (nodes.has(name) ? title(nodes.get(name).data) : name);

// ---- the panel ----
function open(name) {
  if (opened && nodes.has(opened)) nodes.get(opened).element.classList.remove("chosen");
  opened = name;
  offset = 0;
  const { element } = nodes.get(name);
  element.classList.add("chosen");
  by("panel").hidden = false;
  if (fitted) fit();
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
  load();
}

function close() {
  if (!opened) return;
  const node = nodes.get(opened).element;
  node.classList.remove("chosen");
  opened = null;
  by("panel").hidden = true;
  if (fitted) fit();
  node.focus();
}

async function load() {
  const name = opened, mine = ++asked, { kind, text, pattern } = nodes.get(name).data;
  const path = kind === "query" ? `/query/${encodeURIComponent(name.slice(6))}` : `/${kind}/${name.slice(kind.length + 1)}`;
  const page = await (await fetch(`${path}?offset=${offset}`)).json();
  if (mine !== asked || name !== opened) return; // a later question is on its way
  by("title").textContent = page.title;
  const about = { memory: `${pattern || text}: its rows, latest first`, probe: `${text}: what waits for its decision`, query: "its latest matches, latest first" };
  by("about").textContent = `${about[kind]}${page.note || ""}`;
  const counts = latest ? latest.nodes[name] : {};
  const told = Object.entries(counts).filter(([key, value]) => value || ["live", "matches", "waiting"].includes(key));
  list(by("counts"), Object.fromEntries(told.map(([key, value]) => [WORDS[key] || key.replaceAll("_", " "), number(value)])));
  by("text").hidden = !page.text;
  by("text").textContent = page.text || "";
  by("windows").hidden = !page.windows;
  by("windows").textContent = (page.windows || []).join("\n");
  const reports = by("reports");
  reports.hidden = !page.reports;
  reports.replaceChildren(...(page.reports ? [picture(page.reports)] : []));
  table(page);
  pager(page);
}

function table(page) {
  const rows = by("rows");
  rows.replaceChildren();
  const head = made("tr", made("thead", rows)), body = made("tbody", rows);
  for (const name of page.columns) made("th", head, {}, name);
  const why = by("why");
  why.hidden = why.hidden || why.dataset.of !== page.title;
  why.dataset.of = page.title;
  page.rows.forEach((row, place) => {
    const line = made("tr", body);
    for (const cell of row) made("td", line, { title: cell }, cell);
    if (!page.why) return;
    line.className = "explained";
    line.onclick = () => {
      why.hidden = false;
      why.replaceChildren(picture(page.why[place]));
    };
  });
}

const picture = (svg) => new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;

function pager(page) {
  by("pager").hidden = page.total <= PAGE_ROWS && offset === 0;
  by("place").textContent = `${number(offset + 1)}–${number(offset + page.rows.length)} of ${number(page.total)}`;
  by("newer").disabled = offset === 0;
  by("older").disabled = offset + page.rows.length >= page.total;
}

function turn(by_) {
  offset = Math.max(0, offset + by_);
  load();
}

// ---- commands ----
async function send(command, body = undefined) {
  if (busy) return;
  busy = true;
  try {
    show(await (await fetch(`/${command}`, { method: "POST", body })).json());
  } finally {
    busy = false;
  }
}

const runOrPause = () => send(latest && latest.state === "running" ? "pause" : "run");

function search(text) {
  const wanted = text.trim().toLowerCase();
  for (const { element, data } of nodes.values()) {
    const hit = wanted !== "" && [data.label, data.text, data.pattern, data.kind].some((said) => (said || "").toLowerCase().includes(wanted));
    element.classList.toggle("sought", hit);
    element.classList.toggle("apart", wanted !== "" && !hit);
  }
}

function found() {
  const hit = document.querySelector(".node.sought");
  if (!hit) return;
  hit.scrollIntoView({ block: "center", inline: "center" });
  if (hit.classList.contains("open")) hit.focus();
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = ["INPUT", "SELECT"].includes(event.target.tagName);
  if (event.key === "Escape") {
    if (typing) event.target.blur();
    else close();
  } else if (!typing) {
    const onButton = event.target.tagName === "BUTTON" && event.key === " ";
    const acts = {
      " ": runOrPause, s: () => send("step"), "/": () => by("search").focus(), "+": () => scale(1.2), "-": () => scale(1 / 1.2), 0: () => fit(0.3),
    };
    if (onButton || !acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }
}

async function start() {
  by("run").addEventListener("click", runOrPause);
  by("step").addEventListener("click", () => send("step"));
  by("pace").addEventListener("change", (event) => send("pace", event.target.value));
  by("search").addEventListener("input", (event) => search(event.target.value));
  by("search").addEventListener("keydown", (event) => event.key === "Enter" && found());
  by("smaller").addEventListener("click", () => scale(1 / 1.2));
  by("larger").addEventListener("click", () => scale(1.2));
  by("fit").addEventListener("click", () => fit(0.3));
  window.addEventListener("resize", () => fitted && fit());
  by("close").addEventListener("click", close);
  by("newer").addEventListener("click", () => turn(-PAGE_ROWS));
  by("older").addEventListener("click", () => turn(PAGE_ROWS));
  document.addEventListener("keydown", key);
  draw(await (await fetch("/network")).json());
  const events = new EventSource("/events");
  events.onmessage = (event) => show(JSON.parse(event.data));
  events.onerror = () => {
    by("state").textContent = "the server is gone";
    by("state").className = "failed";
  };
}

start();
