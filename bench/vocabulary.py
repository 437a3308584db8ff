"""The benchmark's terms, as templates: what the generator fills in and what peers compare with.

Where it stands: the one place that spells BSBM's IRIs.  It imports nothing, so that a measured process
holds nothing of the benchmark's own.
"""

from __future__ import annotations

__all__ = [
    "COUNTRY",
    "OFFER",
    "OFFER_CLASS",
    "OFFER_FACTS",
    "PARENT",
    "PREDICATES",
    "PRODUCER",
    "PRODUCT",
    "RDF_TYPE",
    "SUBCLASS",
    "TYPE",
    "VENDOR",
    "product_iri",
    "type_iri",
    "word",
]

_BSBM = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_OFFER = f"{_BSBM}instances/dataFromVendor{{vendor}}/Offer{{offer}}"

RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
COUNTRY = "http://downlode.org/rdf/iso-3166/countries#"
TYPE = f"<{_BSBM}instances/ProductType{{kind}}>"
PARENT = f"<{_BSBM}instances/ProductType{{parent}}>"
PRODUCT = f"<{_BSBM}instances/dataFromProducer{{producer}}/Product{{product}}>"
PRODUCER = f"<{_BSBM}instances/dataFromProducer{{producer}}/Producer{{producer}}>"
VENDOR = f"<{_BSBM}instances/dataFromVendor{{vendor}}/Vendor{{vendor}}>"
OFFER = f"<{_OFFER}>"


def word(name: str) -> str:
    """Return a property or class of the benchmark's vocabulary, in brackets."""
    return f"<{_BSBM}vocabulary/{name}>"


def type_iri(kind: int) -> str:
    """Return the IRI of a product type, without brackets."""
    return f"{_BSBM}instances/ProductType{kind}"


def product_iri(product: int, producer: int) -> str:
    """Return the IRI of a product, without brackets."""
    return f"{_BSBM}instances/dataFromProducer{producer}/Product{product}"


OFFER_CLASS = word("Offer")
OFFER_FACTS = (  # an offer's ten predicates and their objects, in the official order
    (RDF_TYPE, OFFER_CLASS),
    (word("product"), PRODUCT),
    (word("vendor"), VENDOR),
    (word("price"), f'"{{price:cents}}"^^{word("USD")}'),
    (word("validFrom"), f'"{{valid_from:date}}T00:00:00"^^<{_XSD}dateTime>'),
    (word("validTo"), f'"{{valid_to:date}}T00:00:00"^^<{_XSD}dateTime>'),
    (word("deliveryDays"), f'"{{delivery}}"^^<{_XSD}integer>'),
    (word("offerWebpage"), f"<{_OFFER}/>"),
    ("<http://purl.org/dc/elements/1.1/publisher>", VENDOR),
    ("<http://purl.org/dc/elements/1.1/date>", f'"{{published:date}}"^^<{_XSD}date>'),
)
PREDICATES = tuple(predicate for predicate, _ in OFFER_FACTS)
