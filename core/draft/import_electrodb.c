/* Entities of ElectroDB, whose schemas were written as JSON: one, a list of them, or an object of
 * them by name. */
#include "core/base/ascii.h"
#include "core/draft/imported_kinds.h"

/* The case of a key's letters. */
enum electrodb_casing { CASING_LOWER, CASING_UPPER, CASING_NONE };

/* A table of a service while its entities are read. */
struct electrodb_table {
    struct import_reader *reader;
    struct attribute_parts names;
    struct declared_table *table;
    const char *keys[2];
};

struct electrodb_entity {
    struct electrodb_table *to;
    struct json at, attributes, indexes;
    const char *name, *service, *version;
    const char *table; /* NULL if absent */
    bool read;         /* with all others of its table */
    bool usable;       /* it has the table's key */
    bool
        beta; /* a schema without "model", from before version 1: the version is in another place */
};

/* One key of an index: PK or SK. */
struct electrodb_key {
    struct electrodb_entity *entity;
    struct json index, key;
    struct json last;      /* the attribute that was added last, */
    struct span last_name; /* and its name */
    bool sort;
    enum electrodb_casing casing;
};

static bool electrodb_is_entity(struct json value)
{
    struct json model = json_member(value, "model");
    struct json named = json_is(model, JSON_OBJECT) ? model : value;
    return json_is(json_member(named, "entity"), JSON_STRING) &&
           json_is(json_member(named, "service"), JSON_STRING) &&
           json_is(json_member(value, "indexes"), JSON_OBJECT);
}

static bool electrodb_recognizes(struct json root)
{
    struct json first = json_first(root);
    return electrodb_is_entity(root) || (json_is(root, JSON_ARRAY) && electrodb_is_entity(first)) ||
           (json_is(root, JSON_OBJECT) && electrodb_is_entity(json_next(first)));
}

static bool electrodb_leave_out(struct electrodb_entity *entity, struct json at, const char *why)
{
    import_reader_leave_out(entity->to->reader, at, "%s", why);
    return false;
}

static bool electrodb_is_number(struct json attribute)
{
    return json_string_is(json_member(attribute, "type"), SPAN_LITERAL("number"));
}

static struct json electrodb_composite_of(struct json key)
{
    struct json composite = json_member(key, "composite");
    return json_present(composite) ? composite : json_member(key, "facets");
}

/* The pieces of a key. Each function adds some to FORMAT and returns NULL, or the reason why no
 * format can be made. */

/* Adds a text that is the same in all keys, in the case of the key. */
static const char *electrodb_add_text(const struct electrodb_key *key, struct format *format,
                                      struct span text)
{
    struct arena *arena = key->entity->to->reader->arena;
    char *copy = arena_text(arena, text);
    if (!copy)
        return "out of memory";
    for (size_t i = 0; i < text.size; i++) {
        char c = copy[i];
        if ((unsigned char)c >= 0x80 && key->casing != CASING_NONE)
            return "it changes the case of letters beyond ASCII";
        if (key->casing == CASING_LOWER && ascii_is_upper(c))
            copy[i] = (char)(c - 'A' + 'a');
        if (key->casing == CASING_UPPER && ascii_is_lower(c))
            copy[i] = (char)(c - 'a' + 'A');
    }
    return key_template_add_literal(arena, format, span_of(copy, text.size));
}

static const char *electrodb_add_words(const struct electrodb_key *key, struct format *format,
                                       const char *before, const char *text)
{
    const char *wrong = electrodb_add_text(key, format, span_text(before));
    return wrong ? wrong : electrodb_add_text(key, format, span_text(text));
}

/* Adds a part that is an attribute. A number may have leading zeros; other padding can't be undone.
 */
static const char *electrodb_add_attribute(void *context, struct span name, unsigned pad,
                                           struct format *format)
{
    struct electrodb_key *key = context;
    struct electrodb_entity *entity = key->entity;
    struct json attribute = key->last = json_member_span(entity->attributes, name);
    key->last_name = name;
    struct json type = json_member(attribute, "type"), padding = json_member(attribute, "padding");
    bool number = electrodb_is_number(attribute);
    enum format_case letters = number || key->casing == CASING_NONE ? FORMAT_ANY_CASE
                               : key->casing == CASING_LOWER        ? FORMAT_LOWER
                                                                    : FORMAT_UPPER;
    if (!json_present(attribute))
        return "a part is no attribute of the entity";
    if (json_present(padding)) {
        int64_t length;
        if (!number || !json_string_is(json_member(padding, "char"), SPAN_LITERAL("0")) ||
            !json_read_int(json_member(padding, "length"), &length) || length < 1 ||
            length > KEY_TEMPLATE_MAX_PAD)
            return "a part is padded other than by zeros in front of a number";
        pad = (unsigned)length;
    }
    const char *wrong = key_template_add_spelled(&entity->to->names, format, name, letters, pad);
    if (!wrong && json_is(type, JSON_ARRAY) && key->casing == CASING_NONE)
        import_reader_add_values(entity->to->reader, entity->to->table,
                                 format->pieces[format->count - 1].param, type);
    return wrong;
}

/* Adds the names of the collections: "$name", or "$name#name". */
static const char *electrodb_add_collections(const struct electrodb_key *key, struct format *format)
{
    struct json collection = json_member(key->index, "collection");
    struct import_reader *reader = key->entity->to->reader;
    bool list = json_is(collection, JSON_ARRAY);
    const char *wrong = NULL;
    size_t count = 0;
    if (!list && (!json_is(collection, JSON_STRING) || json_raw(collection).size <= 2))
        return NULL;
    for (struct json each = list ? json_first(collection) : collection;
         json_present(each) && !wrong; each = list ? json_next(each) : (struct json){0}) {
        const char *text = import_reader_text(reader, each);
        wrong = text ? electrodb_add_words(key, format, count++ ? "#" : "$", text)
                     : "its collection has no name";
    }
    return wrong;
}

static bool electrodb_is_clustered(const struct electrodb_key *key)
{
    return json_string_is(json_member(key->index, "type"), SPAN_LITERAL("clustered"));
}

/* Adds the entity's own name in a sort key: behind the collections, at the end of a cluster's key.
 */
static const char *electrodb_add_entity_name(const struct electrodb_key *key, struct format *format)
{
    const struct electrodb_entity *entity = key->entity;
    struct json collection = json_member(key->index, "collection");
    bool collected = json_count(collection) > 0 ||
                     (json_is(collection, JSON_STRING) && json_raw(collection).size > 2);
    const char *wrong = electrodb_add_words(key, format, collected ? "#" : "$", entity->name);
    if (!wrong && !entity->beta)
        wrong = electrodb_add_words(key, format, "_", entity->version);
    return wrong;
}

/* Adds the begin of a key without a template. A partition key begins with "$service", and with the
 * version unless the entity's name has it. Without a sort key it also has the texts of that. Its
 * scope is last. */
static const char *electrodb_add_prefix(const struct electrodb_key *key, struct format *format)
{
    const struct electrodb_entity *entity = key->entity;
    bool alone = !json_present(json_member(key->index, "sk"));
    const char *scope = import_reader_text(entity->to->reader, json_member(key->index, "scope"));
    const char *wrong = key->sort ? NULL : electrodb_add_words(key, format, "$", entity->service);
    if (!wrong && !key->sort && entity->beta)
        wrong = electrodb_add_words(key, format, "_", entity->version);
    if (!wrong && (key->sort || alone))
        wrong = electrodb_add_collections(key, format);
    if (!wrong && ((key->sort && !electrodb_is_clustered(key)) || alone))
        wrong = electrodb_add_entity_name(key, format);
    if (!wrong && !key->sort && scope)
        wrong = electrodb_add_words(key, format, "_", scope);
    return wrong;
}

/* Adds "#label_" and the attribute, for each attribute of the key. */
static const char *electrodb_add_composite(struct electrodb_key *key, struct format *format)
{
    struct import_reader *reader = key->entity->to->reader;
    const char *wrong = NULL;
    for (struct json each = json_first(electrodb_composite_of(key->key));
         json_present(each) && !wrong; each = json_next(each)) {
        const char *name = import_reader_text(reader, each);
        if (!name)
            return "its composite attributes must be names";
        struct json attribute = json_member(key->entity->attributes, name);
        const char *label = import_reader_text(reader, json_member(attribute, "label"));
        wrong = electrodb_add_words(key, format, "#", label ? label : name);
        if (!wrong)
            wrong = electrodb_add_text(key, format, SPAN_LITERAL("_"));
        if (!wrong)
            wrong = electrodb_add_attribute(key, span_text(name), 0, format);
    }
    return wrong;
}

/* Keys. */

/* The template of a key, or NULL. A key that is the attribute which is stored in it has one, too.
 */
static const char *electrodb_find_template(struct electrodb_key *key)
{
    struct import_reader *reader = key->entity->to->reader;
    struct json composite = electrodb_composite_of(key->key);
    const char *text = import_reader_text(reader, json_member(key->key, "template"));
    if (!text && json_is(composite, JSON_STRING))
        text = import_reader_text(reader, composite);
    const char *field = import_reader_text(reader, json_member(key->key, "field"));
    const char *name =
        json_count(composite) == 1 ? import_reader_text(reader, json_first(composite)) : NULL;
    if (text || !name || !field || strcmp(name, field) != 0)
        return text;
    for (struct json each = json_first(key->entity->attributes), value; json_present(each);
         each = json_next(value)) {
        value = json_next(each);
        struct json stored = json_member(value, "field");
        if (!json_string_is(json_present(stored) ? stored : each, span_text(field)))
            continue;
        CLEAN_UP(buf_clean_up) struct buf whole = {0};
        buf_printf(&whole, "${%s}", name);
        return arena_text(reader->arena, buf_span(&whole));
    }
    return NULL;
}

static const char *electrodb_parse_template(struct electrodb_key *key, const char *text,
                                            struct format *format)
{
    struct key_template_parts parts = {.names = &key->entity->to->names,
                                       .notation = KEY_TEMPLATE_DOLLAR,
                                       .part = electrodb_add_attribute,
                                       .context = key};
    if (!strstr(text, "${") && strchr(text, ':'))
        return "it is in the notation of old versions, \":attribute\"";
    const char *wrong = key_template_parse(&parts, span_text(text), format);
    for (size_t i = 0; !wrong && i < format->count; i++) { /* give its texts the key's case */
        struct format folded = {0};
        if (format->pieces[i].param)
            continue;
        wrong = electrodb_add_text(key, &folded, format->pieces[i].literal);
        if (!wrong)
            format->pieces[i].literal = folded.pieces[0].literal;
    }
    return wrong;
}

/* Whether "cast" makes the key a number. Attributes of other types than these stay texts. */
static bool electrodb_is_cast(const struct electrodb_key *key)
{
    struct json composite = electrodb_composite_of(key->key);
    const char *only = json_count(composite) == 1 && json_is(composite, JSON_ARRAY)
                           ? import_reader_text(key->entity->to->reader, json_first(composite))
                           : NULL;
    struct json attribute = only ? json_member(key->entity->attributes, only) : key->last;
    struct json type = json_member(attribute, "type");
    return json_string_is(json_member(key->key, "cast"), SPAN_LITERAL("number")) &&
           (json_string_is(type, SPAN_LITERAL("number")) ||
            json_string_is(type, SPAN_LITERAL("string")) ||
            json_string_is(type, SPAN_LITERAL("boolean")));
}

static enum kind_key electrodb_read_key(struct electrodb_key *key, struct format *format,
                                        enum value_type *type)
{
    const char *text = electrodb_find_template(key);
    struct json casing = json_member(key->key, "casing");
    key->casing = json_string_is(casing, SPAN_LITERAL("upper"))  ? CASING_UPPER
                  : json_string_is(casing, SPAN_LITERAL("none")) ? CASING_NONE
                                                                 : CASING_LOWER;
    *format = (struct format){0};
    bool cast = !text && electrodb_is_cast(key);
    const char *wrong = text ? electrodb_parse_template(key, text, format) : NULL;
    if (!text && !cast) {
        wrong = electrodb_add_prefix(key, format);
        if (!wrong)
            wrong = electrodb_add_composite(key, format);
        if (!wrong && key->sort && electrodb_is_clustered(key))
            wrong = electrodb_add_entity_name(key, format);
    }
    bool numeric = text && !json_present(json_member(key->key, "cast")) &&
                   format_whole_param(format) && electrodb_is_number(key->last);
    if (!wrong && (cast || numeric || electrodb_is_cast(key))) {
        /* a key that is a number is one attribute alone: the last one, if there is a template */
        struct json composite = electrodb_composite_of(key->key);
        const char *only = format->count == 0 && json_count(composite) == 1
                               ? import_reader_text(key->entity->to->reader, json_first(composite))
                               : NULL;
        struct span name = format_whole_param(format) ? key->last_name : span_text(only);
        *type = VALUE_N;
        *format = (struct format){0};
        wrong = name.size ? key_template_add_part(&key->entity->to->names, format, name)
                          : "a key that is cast to a number must have one attribute";
    }
    if (wrong)
        electrodb_leave_out(key->entity, key->key, wrong);
    return wrong ? KIND_KEY_LEFT_OUT : KIND_KEY_FOUND;
}

/* The keys of an index of the type "composite" are attributes of the entity. */
static bool electrodb_is_composite(struct json index)
{
    return json_string_is(json_member(index, "type"), SPAN_LITERAL("composite"));
}

/* The name in the table of the attribute NAME. */
static const char *electrodb_find_field(const struct electrodb_entity *entity, struct json name)
{
    struct import_reader *reader = entity->to->reader;
    const char *text = import_reader_text(reader, name);
    struct json stored =
        text ? json_member(json_member(entity->attributes, text), "field") : (struct json){0};
    return json_present(stored) ? import_reader_text(reader, stored) : text;
}

/* The attribute of SIDE, of a composite index, that is stored as STORED; absent if not found.
 */
static struct json electrodb_find_composite(const struct electrodb_entity *entity, struct json side,
                                            const char *stored)
{
    struct json each = json_first(electrodb_composite_of(side));
    for (; json_present(each); each = json_next(each)) {
        const char *field = electrodb_find_field(entity, each);
        if (field && strcmp(field, stored) == 0)
            break;
    }
    return each;
}

static enum kind_key electrodb_read_composite(const struct electrodb_entity *entity,
                                              struct json name, struct format *format,
                                              enum value_type *type)
{
    struct import_reader *reader = entity->to->reader;
    const char *text = import_reader_text(reader, name);
    struct json attribute = json_member(entity->attributes, text ? text : "");
    if (!text || !json_present(attribute) ||
        key_template_add_part(&entity->to->names, format, span_text(text))) {
        import_reader_leave_out(reader, name, "a part is no attribute of the entity");
        return KIND_KEY_LEFT_OUT;
    }
    *type = electrodb_is_number(attribute) ? VALUE_N : VALUE_S;
    format->pieces[0].open = *type == VALUE_S;
    return KIND_KEY_FOUND;
}

static enum kind_key electrodb_find_key(void *context, const char *attribute, struct format *format,
                                        enum value_type *type)
{
    struct electrodb_entity *entity = context;
    for (struct json name = json_first(entity->indexes), index; json_present(name);
         name = json_next(index)) {
        index = json_next(name);
        struct json pk = json_member(index, "pk"), sk = json_member(index, "sk");
        if (electrodb_is_composite(index)) {
            struct json own = electrodb_find_composite(entity, pk, attribute);
            if (!json_present(own))
                own = electrodb_find_composite(entity, sk, attribute);
            if (json_present(own))
                return electrodb_read_composite(entity, own, format, type);
            continue;
        }
        for (int sort = 0; sort < 2; sort++) {
            struct electrodb_key key = {
                .entity = entity, .index = index, .key = sort ? sk : pk, .sort = sort};
            if (json_string_is(json_member(key.key, "field"), span_text(attribute)))
                return electrodb_read_key(&key, format, type);
        }
    }
    return KIND_KEY_ABSENT;
}

/* Indexes. */

static void electrodb_read_projection(struct electrodb_entity *entity, struct json projection,
                                      struct declared_index *index)
{
    if (json_string_is(projection, SPAN_LITERAL("all")))
        index->projects = PROJECTS_ALL;
    else if (json_string_is(projection, SPAN_LITERAL("keys_only")))
        index->projects = PROJECTS_KEYS;
    else if (json_is(projection, JSON_ARRAY))
        import_reader_add_includes(entity->to->reader, index, projection);
}

/* Adds one side of a composite index. Entities may have different numbers of its attributes. */
static const char *electrodb_add_composite_side(struct electrodb_entity *entity, struct json at,
                                                struct declared_index *index, struct json side,
                                                bool sort)
{
    const struct declared_key *keys = sort ? index->sort : index->partition;
    size_t known = sort ? index->sort_count : index->partition_count, i = 0;
    struct json composite = electrodb_composite_of(side);
    for (struct json each = json_first(composite); json_present(each);
         each = json_next(each), i++) {
        const char *field = electrodb_find_field(entity, each);
        if (!field || i == KEY_MAX_ATTRIBUTES)
            return "a side of an index can have up to four attributes of the entity";
        if (i < known && strcmp(keys[i].attribute, field) != 0)
            return "another entity has other fields for this index";
        if (i >= known)
            import_reader_add_index_key(entity->to->reader, at, index, sort, field);
    }
    return i == 0 && !sort ? "an index must have a partition key" : NULL;
}

static void electrodb_read_composite_index(struct electrodb_entity *entity, struct json at,
                                           struct json index, const char *name)
{
    struct declared_table *table = entity->to->table;
    struct declared_index *known = import_reader_find_index(table, name);
    bool first = !known;
    if (first)
        known = import_reader_add_index(entity->to->reader, at, table, name);
    if (!known)
        return;
    const char *wrong =
        electrodb_add_composite_side(entity, at, known, json_member(index, "pk"), false);
    if (!wrong)
        wrong = electrodb_add_composite_side(entity, at, known, json_member(index, "sk"), true);
    if (wrong)
        electrodb_leave_out(entity, at, wrong);
    if (wrong && first)
        import_reader_drop_index(table, known);
    else if (first)
        electrodb_read_projection(entity, json_member(index, "projection"), known);
}

static bool electrodb_has_only(const struct declared_key *keys, size_t count, const char *attribute)
{
    return attribute ? count == 1 && strcmp(keys[0].attribute, attribute) == 0 : count == 0;
}

/* Each entity in an index declares it, always with the same attributes. */
static void electrodb_read_index(struct electrodb_entity *entity, struct json at, struct json index)
{
    struct import_reader *reader = entity->to->reader;
    struct json sk = json_member(index, "sk"), type = json_member(index, "type");
    const char *name = import_reader_text(reader, json_member(index, "index"));
    const char *pk_field =
        import_reader_text(reader, json_member(json_member(index, "pk"), "field"));
    const char *sk_field = import_reader_text(reader, json_member(sk, "field"));
    if (name && electrodb_is_composite(index)) {
        electrodb_read_composite_index(entity, at, index, name);
        return;
    }
    if (json_present(type) && !json_string_is(type, SPAN_LITERAL("clustered")) &&
        !json_string_is(type, SPAN_LITERAL("isolated"))) {
        electrodb_leave_out(entity, type,
                            "an index is \"isolated\", \"clustered\" or \"composite\"");
        return;
    }
    if (!name || !pk_field || (json_present(sk) && !sk_field)) {
        electrodb_leave_out(entity, at,
                            "an index must have a name, and a \"field\" for each of its keys");
        return;
    }
    struct declared_index *known = import_reader_find_index(entity->to->table, name);
    if (known) {
        if (!electrodb_has_only(known->partition, known->partition_count, pk_field) ||
            !electrodb_has_only(known->sort, known->sort_count, sk_field))
            electrodb_leave_out(entity, at, "another entity has other fields for this index");
        return;
    }
    known = import_reader_add_index(reader, at, entity->to->table, name);
    if (!known)
        return;
    import_reader_add_index_key(reader, at, known, false, pk_field);
    if (sk_field)
        import_reader_add_index_key(reader, at, known, true, sk_field);
    electrodb_read_projection(entity, json_member(index, "projection"), known);
}

/* Entities and their tables. */

static struct electrodb_entity electrodb_make_entity(struct import_reader *reader,
                                                     struct json value)
{
    struct json model = json_member(value, "model"), table = json_member(value, "table");
    bool beta = !json_is(model, JSON_OBJECT);
    struct json named = beta ? value : model;
    const char *version = import_reader_text(reader, json_member(named, "version"));
    if (!json_present(table))
        table = json_member(json_member(value, "config"), "table");
    return (struct electrodb_entity){
        .at = value,
        .attributes = json_member(value, "attributes"),
        .indexes = json_member(value, "indexes"),
        .name = import_reader_text(reader, json_member(named, "entity")),
        .service = import_reader_text(reader, json_member(named, "service")),
        .version = version ? version : "1",
        .table = import_reader_text(reader, table),
        .beta = beta};
}

static bool electrodb_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Adds the table of the first entity, whose index without a name is the table's key. The other
 * entities must have the same key: else false, with a note. */
static bool electrodb_add_table(struct electrodb_entity *entity)
{
    struct electrodb_table *to = entity->to;
    struct json own = {0};
    for (struct json name = json_first(entity->indexes), index;
         json_present(name) && !json_present(own); name = json_next(index)) {
        index = json_next(name);
        own = json_present(json_member(index, "index")) ? own : index;
    }
    const char *pk = import_reader_text(to->reader, json_member(json_member(own, "pk"), "field"));
    const char *sk = import_reader_text(to->reader, json_member(json_member(own, "sk"), "field"));
    if (!entity->name || !entity->service || !pk)
        return electrodb_leave_out(entity, entity->at,
                                   "an entity must have a name, a service, and an index without "
                                   "\"index\", whose fields are the table's key");
    if (!to->table) {
        to->table = import_reader_add_table(to->reader, entity->at,
                                            entity->table ? entity->table : entity->service,
                                            entity->table ? entity->table : IMPORT_NO_TABLE_NAME);
        to->keys[0] = pk;
        to->keys[1] = sk;
    } else if (!electrodb_same_text(to->keys[0], pk) || !electrodb_same_text(to->keys[1], sk)) {
        return electrodb_leave_out(entity, entity->at,
                                   "its table has another key than the first entity's");
    }
    return to->table;
}

/* Reads all entities of the first one's table. Its indexes are added before the first kind. */
static void electrodb_read_table(struct import_reader *reader, struct electrodb_entity *entities,
                                 size_t count)
{
    struct electrodb_table to = {.reader = reader};
    const char *table = entities[0].table;
    bool ready = attribute_parts_init(&to.names, reader->arena);
    for (size_t i = 0; i < count && ready; i++) {
        struct electrodb_entity *entity = &entities[i];
        if (entity->read || !electrodb_same_text(entity->table, table))
            continue;
        entity->to = &to;
        entity->read = true;
        entity->usable = electrodb_add_table(entity);
        struct json name = entity->usable ? json_first(entity->indexes) : (struct json){0};
        for (; json_present(name); name = json_next(json_next(name)))
            if (json_present(json_member(json_next(name), "index")))
                electrodb_read_index(entity, name, json_next(name));
    }
    for (size_t i = 0; i < count && to.table; i++) {
        struct electrodb_entity *entity = &entities[i];
        if (!entity->usable || !electrodb_same_text(entity->table, table))
            continue;
        struct imported_kind kind = {
            entity->name, entity->at, {to.keys[0], to.keys[1]}, electrodb_find_key, entity};
        imported_kinds_add(reader, to.table, &kind);
        import_reader_add_secrets(reader, to.table, entity->attributes, "field");
    }
    if (to.table)
        imported_kinds_finish(reader, &to.names, entities[0].at, to.table, to.keys);
    attribute_parts_clean_up(&to.names);
}

static void electrodb_read(struct import_reader *reader, struct json root)
{
    struct electrodb_entity *entities =
        arena_array(reader->arena, IMPORT_MAX_KINDS, sizeof *entities);
    bool one = electrodb_is_entity(root), object = json_is(root, JSON_OBJECT);
    size_t count = 0;
    if (!entities)
        return;
    if (one)
        entities[count++] = electrodb_make_entity(reader, root);
    for (struct json each = one ? (struct json){0} : json_first(root), value; json_present(each);
         each = json_next(value)) {
        value = object ? json_next(each) : each;
        if (!electrodb_is_entity(value))
            import_reader_leave_out(reader, value,
                                    "this is no entity, which has a \"model\" and \"indexes\"");
        else if (count == IMPORT_MAX_KINDS)
            import_reader_leave_out(reader, value, "at most %d entities are read",
                                    IMPORT_MAX_KINDS);
        else
            entities[count++] = electrodb_make_entity(reader, value);
    }
    for (size_t i = 0; i < count; i++)
        if (!entities[i].read)
            electrodb_read_table(reader, &entities[i], count - i);
}

const struct import_format electrodb_format = {
    .name = "ElectroDB entity, or several",
    .looks_for = "\"model\" with \"entity\" and \"service\", beside \"indexes\"",
    .recognizes = electrodb_recognizes,
    .read = electrodb_read,
};
