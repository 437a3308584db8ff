/* The physical limit: the bare work of the paper's pattern 1, by hand, in one thread, without an engine.
 *
 *     limit OFFERS.nt CLASSES WINDOW_US RATE REPETITIONS [OUT]
 *
 * Reads N-Triples in chunks, interns every term, then counts the matches of the ten triples of an offer
 * with the type of its product, for the classes listed in CLASSES (one IRI in brackets a line).  The join
 * is done twice: with a hash table a triple pattern (what any engine that keeps its patterns apart must
 * do), and with one table keyed by the offer (what only this pattern's author could write).
 * Prints a JSON object a repetition.  Triple i has the time floor(i * 1e6 / RATE); a match's last triple
 * is at most WINDOW_US after its first.
 *
 * With OUT the one table's matches are written there once more, as the lines of JSON that the engine writes.
 *
 * Left out, and an engine cannot leave it out: malformed lines, escapes, other patterns, the bindings
 * (matches are counted, not built, unless there is OUT), late triples, memory that is given back.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { OFFER_SLOTS = 10, PRODUCT_SLOT = 1, TYPE_SLOT = 10, NO_SLOT = -1, CHUNK = 1 << 18, BATCH = 32 };

static void fail(const char *what) {
    fprintf(stderr, "limit: %s\n", what);
    exit(1);
}

static void *array(size_t count, size_t size) {
    void *made = calloc(count ? count : 1, size);
    if (!made) fail("out of memory");
    return made;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

/* ---- terms: text to number, open addressing, texts copied into one arena ---- */

typedef struct { uint64_t hash; uint32_t id, length; uint64_t at; } Entry; /* id 0: empty */
typedef struct { Entry *entries; uint64_t mask; char *arena; uint64_t used, room; uint32_t count; } Terms;

static uint64_t load(const char *at, size_t n) {
    uint64_t word = 0;
    memcpy(&word, at, n);
    return word;
}

static uint64_t mix(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xa0761d6478bd642fu);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of(const char *text, size_t length) {
    uint64_t hash = length;
    while (length >= 16) {
        hash = mix(load(text, 8) ^ hash, load(text + 8, 8));
        text += 16;
        length -= 16;
    }
    if (length >= 8) return mix(load(text, 8) ^ hash, load(text + length - 8, 8));
    return mix(load(text, length) ^ hash, length);
}

static void grow_table(Terms *terms) {
    uint64_t mask = terms->mask * 2 + 1;
    Entry *entries = array(mask + 1, sizeof *entries);
    for (uint64_t i = 0; i <= terms->mask; i++) {
        if (!terms->entries[i].id) continue;
        uint64_t at = terms->entries[i].hash & mask;
        while (entries[at].id) at = (at + 1) & mask;
        entries[at] = terms->entries[i];
    }
    free(terms->entries);
    terms->entries = entries;
    terms->mask = mask;
}

static uint32_t add_term(Terms *terms, uint64_t at, uint64_t hash, const char *text, size_t length) {
    if (terms->used + length > terms->room) {
        terms->room = (terms->used + length) * 2;
        terms->arena = realloc(terms->arena, terms->room);
        if (!terms->arena) fail("out of memory");
    }
    memcpy(terms->arena + terms->used, text, length);
    terms->entries[at] = (Entry){hash, ++terms->count, length, terms->used};
    terms->used += length;
    uint32_t id = terms->count;
    if (terms->count * 2 > terms->mask) grow_table(terms);
    return id;
}

static inline uint32_t intern_hashed(Terms *terms, const char *text, size_t length, uint64_t hash) {
    uint64_t at = hash & terms->mask;
    for (Entry *entry; (entry = &terms->entries[at])->id; at = (at + 1) & terms->mask)
        if (entry->hash == hash && entry->length == length && !memcmp(terms->arena + entry->at, text, length))
            return entry->id;
    return add_term(terms, at, hash, text, length);
}

static uint32_t intern(Terms *terms, const char *text, size_t length) {
    return intern_hashed(terms, text, length, hash_of(text, length));
}

/* ---- scanning: chunks of a file to rows of three numbers ---- */

typedef struct { uint32_t s, p, o; } Triple;
typedef struct { Triple *rows; size_t count, room; } Triples;

/* Lines are taken by the batch: all their terms are hashed before the first is looked up, so that the
 * table's cache lines are on their way. */
typedef struct { const char *text; size_t length; uint64_t hash; } Token;
typedef struct { Token tokens[3 * BATCH]; int count; } Batch;

static inline void add_token(Batch *batch, const Terms *terms, const char *text, const char *end) {
    uint64_t hash = hash_of(text, end - text);
    batch->tokens[batch->count++] = (Token){text, end - text, hash};
    __builtin_prefetch(&terms->entries[hash & terms->mask]);
}

static void scan_line(const char *line, const char *end, const Terms *terms, Batch *batch) {
    const char *p = memchr(line, ' ', end - line);
    const char *o = p ? memchr(p + 1, ' ', end - p - 1) : NULL;
    if (!o || end - o < 4 || end[-1] != '.' || end[-2] != ' ') fail("a line is not a triple");
    add_token(batch, terms, line, p);
    add_token(batch, terms, p + 1, o);
    add_token(batch, terms, o + 1, end - 2);
}

static void intern_batch(Batch *batch, Terms *terms, Triples *triples) {
    if (triples->count + BATCH > triples->room) {
        triples->room = triples->room * 2 + 4096;
        triples->rows = realloc(triples->rows, triples->room * sizeof *triples->rows);
        if (!triples->rows) fail("out of memory");
    }
    uint32_t ids[3 * BATCH];
    for (int i = 0; i < batch->count; i++) {
        const Token *token = &batch->tokens[i];
        ids[i] = intern_hashed(terms, token->text, token->length, token->hash);
    }
    memcpy(triples->rows + triples->count, ids, batch->count * sizeof *ids);
    triples->count += batch->count / 3;
    batch->count = 0;
}

static void scan_file(const char *path, Terms *terms, Triples *triples) {
    static char buffer[2 * CHUNK];
    Batch batch = {.count = 0};
    int file = open(path, O_RDONLY);
    if (file < 0) fail("cannot open the offers");
    size_t kept = 0;
    for (ssize_t got; (got = read(file, buffer + kept, CHUNK)) > 0;) {
        char *at = buffer, *end = buffer + kept + got, *newline;
        for (; (newline = memchr(at, '\n', end - at)); at = newline + 1) {
            scan_line(at, newline, terms, &batch);
            if (batch.count == 3 * BATCH) intern_batch(&batch, terms, triples);
        }
        intern_batch(&batch, terms, triples);
        kept = end - at;
        if (kept > CHUNK) fail("a line is longer than a chunk");
        memmove(buffer, at, kept);
    }
    close(file);
    if (kept) fail("the last line has no end");
}

/* ---- which triple pattern a triple is for ---- */

typedef struct { uint32_t type, offer, predicates[OFFER_SLOTS]; char *is_target; uint32_t known; } Pattern;

static Pattern make_pattern(Terms *terms, const char *classes) {
#define VOC "<http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/"
    static const char *const names[OFFER_SLOTS] = {
        VOC "Offer>", VOC "product>", VOC "vendor>", VOC "price>", VOC "validFrom>", VOC "validTo>",
        VOC "deliveryDays>", VOC "offerWebpage>", "<http://purl.org/dc/elements/1.1/publisher>",
        "<http://purl.org/dc/elements/1.1/date>"};
    static const char type[] = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
    Pattern pattern = {.type = intern(terms, type, strlen(type))};
    for (int slot = 0; slot < OFFER_SLOTS; slot++)
        pattern.predicates[slot] = intern(terms, names[slot], strlen(names[slot]));
    pattern.offer = pattern.predicates[0];
    uint32_t first = terms->count + 1; /* only target classes are interned behind it */
    FILE *file = fopen(classes, "r");
    if (!file) fail("cannot open the classes");
    for (char line[4096]; fgets(line, sizeof line, file);) intern(terms, line, strcspn(line, "\n"));
    fclose(file);
    pattern.known = terms->count + 1;
    pattern.is_target = array(pattern.known, 1);
    memset(pattern.is_target + first, 1, pattern.known - first);
    return pattern;
}

static inline int slot_of(const Pattern *pattern, const Triple *triple) {
    if (triple->p == pattern->type) {
        if (triple->o == pattern->offer) return 0;
        return triple->o < pattern->known && pattern->is_target[triple->o] ? TYPE_SLOT : NO_SLOT;
    }
    if (triple->p >= pattern->known) return NO_SLOT;
    uint32_t slot = triple->p - pattern->predicates[0]; /* they were interned one behind the other */
    return slot < OFFER_SLOTS ? (int)slot : NO_SLOT;
}

/* ---- a hash table of what came within the window: a ring of rows, chained from the newest to the oldest ----
 * A chain ends where a row is too old, so nothing is ever unlinked: expiry is to be overwritten.  Ids are
 * dense, so their low bits are the hash: what comes together lies together. */

typedef struct { uint32_t key, value, time, next; } Row; /* time in µs since the stream's start */
typedef struct { Row *rows; uint32_t *heads, mask, newest; } Table; /* rows are numbered from 1 */

static uint32_t horizon; /* rows before this time are expired */

static Table make_table(uint64_t live) {
    uint32_t size = 16;
    while (size < live + 2) size *= 2;
    return (Table){array(size, sizeof(Row)), array(size, sizeof(uint32_t)), size - 1, 1};
}

static void free_table(Table *table) {
    free(table->rows);
    free(table->heads);
}

static inline uint32_t *head_of(Table *table, uint32_t key) { return &table->heads[key & table->mask]; }

static inline Row *row_at(Table *table, uint32_t number) { return &table->rows[number & table->mask]; }

static inline Row *insert(Table *table, uint32_t key, uint32_t value, uint32_t time) {
    uint32_t *head = head_of(table, key);
    Row *row = row_at(table, table->newest);
    if (table->newest > table->mask && row->time >= horizon) fail("a table is full");
    *row = (Row){key, value, time, *head};
    *head = table->newest++;
    return row;
}

/* The next live row of a key at or behind a number in its chain, or NULL. */
static inline Row *seek(Table *table, uint32_t number, uint32_t key) {
    for (; number && table->newest - number <= table->mask; number = row_at(table, number)->next) {
        Row *row = row_at(table, number);
        if (row->time < horizon) return NULL;
        if (row->key == key) return row;
    }
    return NULL;
}

static inline uint64_t count_key(Table *table, uint32_t key) {
    uint64_t count = 0;
    for (Row *row = seek(table, *head_of(table, key), key); row; row = seek(table, row->next, key)) count++;
    return count;
}

/* ---- the join with a table a triple pattern ---- */

typedef struct { Table slots[OFFER_SLOTS + 1], by_product; } Eleven;

/* How many ways an offer's rows combine, its product's left out; the latest pattern first, it misses soonest. */
static inline uint64_t ways(Eleven *tables, uint32_t offer, int arrived) {
    uint64_t product = 1;
    for (int slot = OFFER_SLOTS - 1; slot >= 0 && product; slot--)
        if (slot != PRODUCT_SLOT && slot != arrived) product *= count_key(&tables->slots[slot], offer);
    return product;
}

static inline uint64_t offer_arrived(Eleven *tables, int slot, const Triple *triple) {
    uint64_t others = ways(tables, triple->s, slot), typed = 0;
    if (!others) return 0;
    if (slot == PRODUCT_SLOT) return others * count_key(&tables->slots[TYPE_SLOT], triple->o);
    Table *products = &tables->slots[PRODUCT_SLOT];
    for (Row *row = seek(products, *head_of(products, triple->s), triple->s); row;
         row = seek(products, row->next, triple->s))
        typed += count_key(&tables->slots[TYPE_SLOT], row->value);
    return others * typed;
}

static inline uint64_t type_arrived(Eleven *tables, uint32_t product) {
    uint64_t matches = 0;
    Table *offers = &tables->by_product;
    for (Row *row = seek(offers, *head_of(offers, product), product); row;
         row = seek(offers, row->next, product))
        matches += ways(tables, row->value, NO_SLOT);
    return matches;
}

static uint64_t join_eleven(const Triples *triples, const Pattern *pattern, uint64_t window, uint64_t rate,
                            uint64_t live) {
    Eleven tables;
    for (int slot = 0; slot <= OFFER_SLOTS; slot++) tables.slots[slot] = make_table(live);
    tables.by_product = make_table(live);
    uint64_t matches = 0;
    for (size_t i = 0; i < triples->count; i++) {
        const Triple *triple = &triples->rows[i];
        int slot = slot_of(pattern, triple);
        if (slot == NO_SLOT) continue;
        uint32_t now = i * 1000000 / rate;
        horizon = now > window ? now - window : 0;
        insert(&tables.slots[slot], triple->s, triple->o, now);
        if (slot == PRODUCT_SLOT) insert(&tables.by_product, triple->o, triple->s, now);
        matches += slot == TYPE_SLOT ? type_arrived(&tables, triple->s) : offer_arrived(&tables, slot, triple);
    }
    for (int slot = 0; slot <= OFFER_SLOTS; slot++) free_table(&tables.slots[slot]);
    free_table(&tables.by_product);
    return matches;
}

/* ---- the join with one table keyed by the offer: each of its patterns at most once, and in a row ---- */

typedef struct { Table offers, by_product, types; } One;

enum { ALL_SEEN = (1 << OFFER_SLOTS) - 1 };

/* The offer's row says in `value` which patterns were seen; its product is in `products`, beside it. */
static inline uint64_t seen(One *tables, uint32_t *products, int slot, const Triple *triple, uint32_t now) {
    Row *row = seek(&tables->offers, *head_of(&tables->offers, triple->s), triple->s);
    if (!row) row = insert(&tables->offers, triple->s, 0, now);
    uint64_t place = row - tables->offers.rows;
    row->value |= 1u << slot;
    if (slot == PRODUCT_SLOT) products[place] = triple->o;
    if (row->value != ALL_SEEN) return 0;
    insert(&tables->by_product, products[place], triple->s, row->time);
    return count_key(&tables->types, products[place]);
}

static uint64_t join_one(const Triples *triples, const Pattern *pattern, uint64_t window, uint64_t rate,
                         uint64_t live) {
    One tables = {make_table(live), make_table(live), make_table(live)};
    uint32_t *products = array(tables.offers.mask + 1, sizeof *products);
    uint64_t matches = 0;
    for (size_t i = 0; i < triples->count; i++) {
        const Triple *triple = &triples->rows[i];
        int slot = slot_of(pattern, triple);
        if (slot == NO_SLOT) continue;
        uint32_t now = i * 1000000 / rate;
        horizon = now > window ? now - window : 0;
        if (slot == TYPE_SLOT) {
            insert(&tables.types, triple->s, triple->o, now);
            matches += count_key(&tables.by_product, triple->s);
        } else {
            matches += seen(&tables, products, slot, triple, now);
        }
    }
    free(products);
    free_table(&tables.offers);
    free_table(&tables.by_product);
    free_table(&tables.types);
    return matches;
}

/* ---- the same join, with its matches written as JSON ---- */

typedef struct { uint64_t at; uint32_t length; } Text;
typedef struct { int file; size_t used; char buffer[1 << 20]; } Out;
typedef struct { const Terms *terms; Text *texts; uint32_t (*objects)[OFFER_SLOTS]; Out *out; } Writing;

static void flush_out(Out *out) {
    for (size_t done = 0; done < out->used;) {
        ssize_t took = write(out->file, out->buffer + done, out->used - done);
        if (took < 0) fail("cannot write");
        done += took;
    }
    out->used = 0;
}

static inline void put(Out *out, const char *text, size_t length) {
    if (length > sizeof out->buffer) fail("a term is longer than the buffer");
    if (out->used + length > sizeof out->buffer) flush_out(out);
    memcpy(out->buffer + out->used, text, length);
    out->used += length;
}

#define PUT(out, text) put(out, text, sizeof text - 1)

static void put_time(Out *out, uint32_t micros) {
    char text[32];
    int length = snprintf(text, sizeof text, "%u.%06u", micros / 1000000, micros % 1000000);
    while (text[length - 1] == '0' && text[length - 2] != '.') length--;
    put(out, text, length);
}

/* A member of the bindings; a literal ends with its quote, or with ^^<datatype>: tags and escapes do not occur. */
static void put_term(Writing *w, const char *key, size_t length, uint32_t id) {
    const char *text = w->terms->arena + w->texts[id].at, *end = text + w->texts[id].length;
    put(w->out, key, length);
    if (*text == '<') {
        PUT(w->out, "{\"type\":\"uri\",\"value\":\"");
        put(w->out, text + 1, end - text - 2);
    } else {
        const char *quote = memchr(text + 1, '"', end - text - 1);
        PUT(w->out, "{\"type\":\"literal\",\"value\":\"");
        put(w->out, text + 1, quote - text - 1);
        if (quote + 1 < end) {
            PUT(w->out, "\",\"datatype\":\"");
            put(w->out, quote + 4, end - quote - 5);
        }
    }
    PUT(w->out, "\"}");
}

static void put_match(Writing *w, const Row *offer, uint64_t place, uint32_t start, uint32_t now) {
    static const char *const keys[OFFER_SLOTS] = {
        "\"offer\":", ",\"product\":", ",\"vendor\":", ",\"price\":", ",\"from\":", ",\"to\":",
        ",\"delivery\":", ",\"webpage\":", ",\"publisher\":", ",\"date\":"};
    PUT(w->out, "{\"query\":\"BSBMOfferDetection\",\"start\":");
    put_time(w->out, start < offer->time ? start : offer->time);
    PUT(w->out, ",\"end\":");
    put_time(w->out, now);
    PUT(w->out, ",\"bindings\":{");
    for (int slot = 0; slot < OFFER_SLOTS; slot++)
        put_term(w, keys[slot], strlen(keys[slot]), slot ? w->objects[place][slot] : offer->key);
    PUT(w->out, "}}\n");
}

static uint64_t write_arrived(One *tables, Writing *w, int slot, const Triple *triple, uint32_t now) {
    uint64_t matches = 0;
    if (slot == TYPE_SLOT) {
        insert(&tables->types, triple->s, triple->o, now);
        Table *offers = &tables->by_product;
        for (Row *row = seek(offers, *head_of(offers, triple->s), triple->s); row;
             row = seek(offers, row->next, triple->s), matches++) {
            Row *offer = seek(&tables->offers, *head_of(&tables->offers, row->value), row->value);
            put_match(w, offer, offer - tables->offers.rows, now, now);
        }
        return matches;
    }
    Row *row = seek(&tables->offers, *head_of(&tables->offers, triple->s), triple->s);
    if (!row) row = insert(&tables->offers, triple->s, 0, now);
    uint64_t place = row - tables->offers.rows;
    row->value |= 1u << slot;
    w->objects[place][slot] = triple->o;
    if (row->value != ALL_SEEN) return 0;
    uint32_t product = w->objects[place][PRODUCT_SLOT];
    insert(&tables->by_product, product, triple->s, row->time);
    for (Row *type = seek(&tables->types, *head_of(&tables->types, product), product); type;
         type = seek(&tables->types, type->next, product), matches++)
        put_match(w, row, place, type->time, now);
    return matches;
}

static uint64_t write_one(const Triples *triples, const Pattern *pattern, uint64_t window, uint64_t rate,
                          uint64_t live, const Terms *terms, const char *path) {
    One tables = {make_table(live), make_table(live), make_table(live)};
    Writing w = {terms, array(terms->count + 1, sizeof(Text)),
                 array(tables.offers.mask + 1, sizeof(uint32_t[OFFER_SLOTS])), array(1, sizeof(Out))};
    w.out->file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (w.out->file < 0) fail("cannot open the output");
    for (uint64_t i = 0; i <= terms->mask; i++)
        if (terms->entries[i].id) w.texts[terms->entries[i].id] = (Text){terms->entries[i].at, terms->entries[i].length};
    uint64_t matches = 0;
    for (size_t i = 0; i < triples->count; i++) {
        int slot = slot_of(pattern, &triples->rows[i]);
        if (slot == NO_SLOT) continue;
        uint32_t now = i * 1000000 / rate;
        horizon = now > window ? now - window : 0;
        matches += write_arrived(&tables, &w, slot, &triples->rows[i], now);
    }
    flush_out(w.out);
    close(w.out->file);
    free(w.out);
    free(w.objects);
    free(w.texts);
    free_table(&tables.offers);
    free_table(&tables.by_product);
    free_table(&tables.types);
    return matches;
}

/* The most memory this program has held, in bytes.  On Linux getrusage would count its parent's, from before exec. */
static long peak_rss(void) {
#ifdef __linux__
    long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) fail("cannot open /proc/self/status");
    for (char line[256]; fgets(line, sizeof line, file);)
        if (sscanf(line, "VmHWM: %ld", &kilobytes) == 1) break;
    fclose(file);
    return kilobytes * 1024;
#else
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
#endif
}

int main(int count, char **words) {
    if (count != 6 && count != 7) fail("usage: limit OFFERS.nt CLASSES WINDOW_US RATE REPETITIONS [OUT]");
    uint64_t window = strtoull(words[3], NULL, 10), rate = strtoull(words[4], NULL, 10);
    for (int repetition = 0; repetition < atoi(words[5]); repetition++) {
        Terms terms = {array(1 << 16, sizeof(Entry)), (1 << 16) - 1, NULL, 0, 0, 0};
        Triples triples = {0};
        Pattern pattern = make_pattern(&terms, words[2]);
        double start = seconds();
        scan_file(words[1], &terms, &triples);
        double scanned = seconds();
        if (triples.count * 1000000 / rate >= UINT32_MAX) fail("the stream is longer than the clock");
        uint64_t live = triples.count;
        if (window / 1e6 * rate < live) live = window / 1e6 * rate + 1;
        live = live / OFFER_SLOTS + 16; /* each pattern is a tenth of the stream, or less */
        double joining = seconds();
        uint64_t eleven = join_eleven(&triples, &pattern, window, rate, live);
        double joined = seconds();
        uint64_t one = join_one(&triples, &pattern, window, rate, live);
        double joined_one = seconds();
        uint64_t wrote = count == 7 ? write_one(&triples, &pattern, window, rate, live, &terms, words[6]) : one;
        double written = seconds();
        printf("{\"triples\": %zu, \"terms\": %" PRIu32 ", \"matches\": %" PRIu64 ", \"matches_one\": %" PRIu64
               ", \"scan\": %.6f, \"join_eleven\": %.6f, \"join_one\": %.6f, \"written\": %.6f, \"matches_written\": %" PRIu64
               ", \"peak_rss\": %ld}\n",
               triples.count, terms.count, eleven, one, scanned - start, joined - joining,
               joined_one - joined, written - joined_one, wrote, peak_rss());
        free(terms.entries);
        free(terms.arena);
        free(triples.rows);
        free(pattern.is_target);
    }
    return 0;
}
